import type { Writable } from 'node:stream';

/** Where a command writes. Standard output has the result only, so that it can be piped. */
export interface Output {
  /** Whether results and errors are JSON documents. */
  json: boolean;
  /** Writes the result. @param text what it looks like without `--json`; not called otherwise */
  result(document: unknown, text: () => string): void;
  /** Writes text to standard output as it is. */
  raw(text: string): void;
  /** Writes a line for the operator to standard error; nothing with `--json`. */
  note(line: string): void;
  fail(error: { code: string; message: string }): void;
}

/** Writes to the standard streams, or to those of a test. */
export function createOutput(json: boolean, stdout: Writable, stderr: Writable): Output {
  return {
    json,
    result(document, text) {
      stdout.write(withLineFeed(json ? JSON.stringify(document, null, 2) : text()));
    },
    raw(text) {
      stdout.write(text);
    },
    note(line) {
      if (!json) stderr.write(`${line}\n`);
    },
    fail({ code, message }) {
      stderr.write(withLineFeed(json ? JSON.stringify({ error: { code, message } }) : `dure: ${message}`));
    },
  };
}

function withLineFeed(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}

/** A value of a cell; null is empty. */
type Cell = string | number | boolean | Date | null | undefined;

/**
 * An aligned table without lines, for people and for `awk`.
 *
 * @param empty what stands in place of a table without rows
 */
export function table(columns: readonly string[], rows: readonly (readonly Cell[])[], empty: string): string {
  if (rows.length === 0) return empty;
  const lines = [columns.map((name) => name.toUpperCase()), ...rows.map((row) => row.map(format))];
  const widths = columns.map((_, index) => Math.max(...lines.map((line) => widthOf(line[index] ?? ''))));
  return lines.map((line) => pad(line, widths)).join('\n');
}

/** Names and values, one pair a line. */
export function pairs(values: readonly (readonly [string, Cell])[]): string {
  const width = Math.max(...values.map(([name]) => name.length));
  return values.map(([name, value]) => `${name.padEnd(width)}  ${format(value)}`.trimEnd()).join('\n');
}

function pad(line: string[], widths: number[]): string {
  const cells = line.map((cell, index) => cell + ' '.repeat((widths[index] ?? 0) - widthOf(cell)));
  return cells.join('  ').trimEnd();
}

/** Control characters could change what a terminal shows. */
function format(value: Cell): string {
  if (value === null || value === undefined) return '-';
  if (value instanceof Date) return value.toISOString().replace(/\.\d+Z$/, 'Z');
  return String(value).replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ');
}

/** Columns of a terminal: letters of Korean, Chinese and Japanese take two. */
function widthOf(text: string): number {
  return [...text].reduce((width, character) => width + (wide.test(character) ? 2 : 1), 0);
}

const wide =
  /[\p{Script=Hangul}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Extended_Pictographic}\u3000-\u303f\uff01-\uff60]/u;
