import process from 'node:process';
import type { Comparison } from './measure.ts';

/** A comparison with the largest allowed ratio of full size to small size. */
export type Row = Comparison & { limit: number };

/** Milliseconds that a read may take at full size. */
const longestRead = 50;
/** Milliseconds that a response takes outside PostgreSQL on an idle machine, whatever is in the database. */
const elsewhere = 0.5;

/**
 * Judges by the CPU time of PostgreSQL, because that is what grows, and because it hardly depends on what else runs.
 *
 * @returns `met`, or what is exceeded
 */
export function judge({ small, full, limit, rejected }: Row): string {
  if (rejected !== undefined) return `NOT MET: answered with ${rejected}`;
  const grows = elsewhere + full.cpu > (elsewhere + small.cpu) * limit;
  const exceeded = [
    ...(grows ? [`${limit} x`] : []),
    ...(full.cpu99 > longestRead ? [`${longestRead} ms`] : []),
  ];
  return exceeded.length === 0 ? 'met' : `NOT MET: ${exceeded.join(', ')}`;
}

const nameWidth = 56;
const ofSize = '    p50    p99    CPU  CPU99';

/** Prints the head of a part of the table. */
export function printHeader(title: string, limit: number): void {
  const sizes = ['at 1/100', 'at full size'].map((text) => text.padStart(ofSize.length)).join(' | ');
  process.stdout.write(`\n${`${title}: at most ${limit} x`.padEnd(nameWidth)}${sizes} |  full : 1/100\n`);
  process.stdout.write(`${' '.repeat(nameWidth)}${ofSize} | ${ofSize} |   p50    CPU | requests\n`);
}

export function printRow(row: Row): void {
  const { name, small, full, requests } = row;
  const number = (value: number, width = 7) => value.toFixed(value < 100 ? 2 : 0).padStart(width);
  const figures = ({ p50, p99, cpu, cpu99 }: Row['small']) =>
    number(p50) + number(p99) + number(cpu) + number(cpu99);
  const ratios = number(full.p50 / small.p50, 6) + number(full.cpu / small.cpu);
  const cells = [figures(small), figures(full), ratios, String(requests).padStart(8), judge(row)];
  process.stdout.write(`${name.padEnd(nameWidth)}${cells.join(' | ')}\n`);
}
