import type { Writable } from 'node:stream';

export type Output = ReturnType<typeof createOutput>;

interface Streams {
  /** Whether results and errors are JSON documents. */
  json: boolean;
  stdout: Writable;
  stderr: Writable;
}

/** Where a command writes. Standard output has the result only, so that it can be piped. */
export function createOutput({ json, stdout, stderr }: Streams) {
  return {
    json,
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

/**
 * An aligned table without lines, for people and for `awk`.
 *
 * @param columns names of properties
 * @param empty what stands in place of a table without rows
 */
export function table<Item extends object>(
  items: readonly Item[],
  columns: readonly (keyof Item & string)[],
  empty: string,
): string {
  if (items.length === 0) return empty;
  const rows = items.map((item) => columns.map((name) => format(item[name])));
  const lines = [columns.map((name) => name.toUpperCase()), ...rows];
  const widths = columns.map((_, index) => Math.max(...lines.map((line) => widthOf(line[index] ?? ''))));
  return lines.map((line) => pad(line, widths)).join('\n');
}

/** Some properties of an object, one a line. */
export function pairs<Item extends object>(item: Item, names: readonly (keyof Item & string)[]): string {
  const width = Math.max(...names.map((name) => name.length));
  return names.map((name) => `${name.padEnd(width)}  ${format(item[name])}`.trimEnd()).join('\n');
}

function pad(line: string[], widths: number[]): string {
  const cells = line.map((cell, index) => cell + ' '.repeat((widths[index] ?? 0) - widthOf(cell)));
  return cells.join('  ').trimEnd();
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
