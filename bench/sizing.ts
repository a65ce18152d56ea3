import { readFile, writeFile } from 'node:fs/promises';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { root } from '../test/support/files.ts';
import { type Measured, measure } from './sizing/measure.ts';
import { formatSizes } from './sizing/report.ts';

/*
 * npm run bench -- sizing [--measure]
 *
 * What 10 thousand, 1 million and 100 million users need, from what operations and rows were measured to cost, which
 * `--measure` does again. The usage that is assumed is in sizing/model.ts.
 */

const { values } = parseArgs({
  args: process.argv.slice(3),
  options: { measure: { type: 'boolean', default: false } },
});
const file = `${root}/bench/sizing/measured.json`;
const say = (line: string) => void process.stdout.write(`${line}\n`);

if (values.measure) await writeFile(file, `${JSON.stringify(await measure(say), undefined, 2)}\n`);
const measured: Measured = JSON.parse(await readFile(file, 'utf8'));
for (const line of formatSizes(measured)) say(line);
