import process from 'node:process';
import { parseArgs } from 'node:util';

/** Prints a line. */
export const say = (line: string) => void process.stdout.write(`${line}\n`);

/** Prints a row of a table, in Markdown. */
export const sayRow = (cells: (string | number)[]) => say(`| ${cells.join(' | ')} |`);

/** Prints the head of a table. */
export function sayHead(cells: string[]): void {
  sayRow(cells);
  sayRow(cells.map(() => '---'));
}

/** Reads options of the form `--name value`. @throws for one that has no default */
export function readOptions<Name extends string>(
  args: string[],
  defaults: Record<Name, string>,
): Record<Name, string> {
  const options = { ...defaults };
  const names = Object.keys(defaults).map((name) => [name, { type: 'string' as const }]);
  const { values } = parseArgs({ args, options: Object.fromEntries(names) });
  const given = new Map(Object.entries(values));
  for (const name in defaults) options[name] = String(given.get(name) ?? defaults[name]);
  return options;
}

/** Prints what failed, and fails: figures of requests that failed say nothing. */
export function sayErrors(name: string, errors: string[]): void {
  if (errors.length === 0) return;
  say(`INVALID: ${name}: ${[...new Set(errors)].join('; ')}`);
  process.exitCode = 1;
}
