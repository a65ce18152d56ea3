import { readFile, writeFile } from 'node:fs/promises';
import { root } from '../test/support/files.ts';
import { readOptions, say, sayHead, sayRow } from './command-line.ts';
import { type Measured, measure } from './sizing/measure.ts';
import { assumed, operationsPerDay, short, sizeOf } from './sizing/model.ts';

const sizes = [10_000, 1_000_000, 10_000_000];

/**
 * npm run bench -- sizing [--measure] [--seconds 4]
 *
 * What 10 thousand, 1 million and 10 million users need, from what operations and rows were measured to cost, which
 * `--measure` does again. The usage that is assumed is in sizing/model.ts. It prints the tables of docs/operations/growth.md.
 */
export async function sizing(args: string[]): Promise<void> {
  const options = readOptions(
    args.filter((arg) => arg !== '--measure'),
    { seconds: '4' },
  );
  const file = `${root}/bench/sizing/measured.json`;
  if (args.includes('--measure')) {
    const text = JSON.stringify(await measure(Number(options.seconds)), undefined, 2);
    // An operation on a line.
    await writeFile(file, `${text.replaceAll(/\n {6}|\n {4}(?=\})/g, ' ')}\n`);
  }
  const measured: Measured = JSON.parse(await readFile(file, 'utf8'));
  sayHead(['operation', 'CPU us: instance', 'CPU us: PostgreSQL', 'WAL bytes']);
  for (const [name, { service, postgres, wal }] of Object.entries(measured.operations))
    sayRow([name, service, postgres, wal]);
  say('');
  sayHead(['row with its indexes', 'bytes']);
  for (const row of Object.entries(measured.rows)) sayRow(row);
  say('');
  sayHead(['updates that change no index (HOT)', 'share']);
  for (const [name, share] of Object.entries(measured.hot)) sayRow([name, `${(share * 100).toFixed(1)} %`]);
  say('');
  sayHead(['assumed, in bench/sizing/model.ts', '']);
  for (const row of Object.entries(assumed)) sayRow(row);
  for (const [name, count] of Object.entries(operationsPerDay))
    sayRow([`${name}, of an active user on a day`, count]);
  say('');
  sayNeeds(measured);
}

function sayNeeds(measured: Measured): void {
  const needs = sizes.map((users) => sizeOf(users, measured));
  sayHead(['users', ...sizes.map((users) => users.toLocaleString('en-US'))]);
  for (const label of Object.keys(needs[0]?.cells ?? {}))
    sayRow([label, ...needs.map(({ cells }) => cells[label] ?? '')]);
  say('');
  sayHead(['limit of one primary', 'used at 1 million users', 'reached at']);
  const most = Math.max(...sizes);
  const shares = Object.entries(sizeOf(most, measured).shares).sort(([, one], [, other]) => other - one);
  for (const [name, share] of shares) {
    const used = `${short((share / most) * 1e6 * 100)} %`;
    sayRow([name, used, `${short(most / share / 1e6)} million users`]);
  }
}
