import { type Command, CommanderError, InvalidArgumentError } from 'commander';

/** What text is written to, such as a stream. */
interface Sink {
  write(text: string): unknown;
}

/** What a command knows of the process that runs it. */
export interface Invocation {
  environment: NodeJS.ProcessEnv;
  output: Output;
  /** Gets the audit lines, and warnings. */
  log: Sink;
  /** Whether a person is at a terminal, who can be asked. */
  isInteractive: boolean;
}

export const exitCodes = {
  done: 0,
  /** The database is not reachable, or something unexpected. */
  failed: 1,
  usage: 2,
  notFound: 3,
  /** By a rule: nothing to unlock, an invalid configuration. */
  rejected: 4,
} as const;

/** An error that an operator can act on: one line, a stable code for programs and an exit code. */
export class CommandError extends CommanderError {
  constructor(code: string, message: string, exitCode: number = exitCodes.rejected) {
    super(exitCode, code, message);
  }
}

/** What the help of a command says. */
export interface Help {
  /** One line, for the list of commands. */
  summary: string;
  /** What to know before it is used; follows the summary. */
  details?: string;
  /** Lines that can be pasted. */
  examples: readonly string[];
  /** What the general exit codes mean here, such as `4  nothing to unlock`. */
  exitCodes?: readonly string[];
  /** Whether it writes an audit entry, which adds `--operator`. */
  isAudited?: boolean;
}

export interface AuditOptions {
  operator?: string | undefined;
}

/** The options of a command that lists a page, see {@link addPageOptions}. */
export interface PageOptions extends AuditOptions {
  limit: number;
  cursor?: string;
}

/** Adds a command that has only other commands. */
export function addGroup(program: Command, name: string, description: string): Command {
  return program.command(name).summary(description).description(`${description}.`);
}

/** Adds a command with its help and `--json`. @param syntax name and arguments, such as `show <user>` */
export function addCommand(parent: Command, syntax: string, help: Help): Command {
  const { summary, details, examples, exitCodes = [], isAudited = false } = help;
  const codes = ['0  done', '1  failed, such as an unreachable database', '2  wrong usage', ...exitCodes];
  const sentence = `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`;
  const command = parent
    .command(syntax)
    .summary(summary)
    .description(details === undefined ? sentence : `${sentence} ${details}`)
    .option('--json', 'print one JSON document')
    .addHelpText('after', `\nExamples:\n${indent(examples)}\n\nExit codes:\n${indent(codes)}`);
  if (!isAudited) return command;
  return command.option(
    '--operator <name>',
    'name in the audit entry (default: the user of the system and the host)',
    readOperator,
  );
}

/** Adds the options of a list that is read page by page. */
export function addPageOptions(command: Command): Command {
  const cursor = 'continue the list, with the cursor that the page before printed';
  return addLimit(command, 100, 20).option('--cursor <text>', cursor);
}

/** Adds `--limit`. */
export function addLimit(command: Command, maximum: number, byDefault: number): Command {
  return command.option('--limit <number>', 'maximum number', wholeNumber(1, maximum), byDefault);
}

/** Prints a page, for people as a table, and how to read the next one. */
export function printPage<Row extends object>(
  { output }: Invocation,
  page: { items: unknown; next_cursor: string | null },
  { rows, columns, empty }: { rows: readonly Row[]; columns: readonly (keyof Row & string)[]; empty: string },
): void {
  output.result(page, () => table(rows, columns, empty));
  if (page.next_cursor !== null) output.note(`there are more: --cursor ${page.next_cursor}`);
}

function readOperator(text: string): string {
  const name = text.trim();
  if (/^[^\p{Cc}]{1,96}$/u.test(name)) return name;
  throw new InvalidArgumentError('It must be one line of at most 96 characters.');
}

/** A parser of an option that is a whole number. */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const number = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
    if (number >= min && number <= max) return number;
    throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
  };
}

function indent(lines: readonly string[]): string {
  return lines.map((line) => `  ${line}`).join('\n');
}

export type Output = ReturnType<typeof createOutput>;

/**
 * Where a command writes. Standard output has the result only, so that it can be piped.
 *
 * @param options `json`: whether results and errors are JSON documents
 */
export function createOutput(options: { json: boolean; stdout: Sink; stderr: Sink }) {
  const { json, stdout, stderr } = options;
  return {
    /** Writes the result. @param text what it looks like without `--json`; not called otherwise */
    result(document: unknown, text: () => string): void {
      stdout.write(withLineFeed(json ? JSON.stringify(document, null, 2) : text()));
    },
    /** Writes text to standard output as it is. */
    raw(text: string): void {
      stdout.write(text);
    },
    /** Writes lines for the operator to standard error; nothing with `--json`. */
    note(...lines: string[]): void {
      if (!json) stderr.write(`${lines.join('\n')}\n`);
    },
    fail({ code, message }: { code: string; message: string }): void {
      stderr.write(withLineFeed(json ? JSON.stringify({ error: { code, message } }) : `dure: ${message}`));
    },
  };
}

function withLineFeed(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}

/** An aligned table without lines, for people and for `awk`. @param empty what stands in place of a table without rows */
export function table<Item extends object>(
  items: readonly Item[],
  columns: readonly (keyof Item & string)[],
  empty: string,
): string {
  if (items.length === 0) return empty;
  const rows = items.map((item) => columns.map((name) => format(item[name])));
  const lines = [columns.map((name) => name.toUpperCase()), ...rows];
  const widths = columns.map((_, index) => Math.max(...lines.map((line) => widthOf(line[index] ?? ''))));
  const padded = (cell: string, index: number) => cell + ' '.repeat((widths[index] ?? 0) - widthOf(cell));
  return lines.map((line) => line.map(padded).join('  ').trimEnd()).join('\n');
}

/** Some properties of an object, one a line. */
export function pairs<Item extends object>(item: Item, names: readonly (keyof Item & string)[]): string {
  const width = Math.max(...names.map((name) => name.length));
  return names.map((name) => `${name.padEnd(width)}  ${format(item[name])}`.trimEnd()).join('\n');
}

/** The text of a value; null is empty. Control characters could change what a terminal shows. */
function format(value: unknown): string {
  if (value === null || value === undefined) return '-';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  const text = value instanceof Date ? value.toISOString() : String(value);
  if (/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text)) return text.replace(/\.\d+Z$/, 'Z');
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ');
}

/** Columns of a terminal: letters of Korean, Chinese and Japanese take two. */
function widthOf(text: string): number {
  return [...text].reduce((width, character) => width + (wide.test(character) ? 2 : 1), 0);
}

const wide =
  /[\p{Script=Hangul}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Extended_Pictographic}\u3000-\u303f\uff01-\uff60]/u;
