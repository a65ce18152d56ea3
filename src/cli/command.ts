import { type Command, InvalidArgumentError } from 'commander';

/** What the help of a command says. */
interface Help {
  /** One line, for the list of commands. */
  summary: string;
  /** What it does, and what to know before it is used. */
  description: string;
  /** Lines that can be pasted. */
  examples: readonly string[];
  /** What the general exit codes mean here, such as `4  nothing to unlock`. */
  exitCodes?: readonly string[];
}

/** A command that has only other commands. */
export function group(program: Command, name: string, description: string): Command {
  return program.command(name).summary(description).description(`${description}.`);
}

/**
 * Adds a command with its help and `--json`.
 *
 * @param syntax name and arguments, such as `show <user>`
 */
export function leaf(parent: Command, syntax: string, help: Help): Command {
  const { summary, description, examples, exitCodes = [] } = help;
  const codes = ['0  done', '1  failed, such as an unreachable database', '2  wrong usage', ...exitCodes];
  return parent
    .command(syntax)
    .summary(summary)
    .description(description)
    .option('--json', 'print one JSON document')
    .addHelpText('after', `\nExamples:\n${indent(examples)}\n\nExit codes:\n${indent(codes)}`);
}

/** Adds the option of commands that write an audit entry. */
export function withOperator(command: Command): Command {
  return command.option(
    '--operator <name>',
    'who does it, for the audit entry (default: the user of the system and the host)',
    readOperator,
  );
}

function readOperator(text: string): string {
  const name = text.trim();
  if (/^[^\p{Cc}]{1,96}$/u.test(name)) return name;
  throw new InvalidArgumentError('It must be one line of at most 96 characters.');
}

/** A parser of an option that is a whole number. */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const number = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
    if (number >= min && number <= max) return number;
    throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
  };
}

function indent(lines: readonly string[]): string {
  return lines.map((line) => `  ${line}`).join('\n');
}
