import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { compare, type Who } from './scale/measure.ts';
import { ownReads, type Read, sharedReads } from './scale/reads.ts';
import { judge, printHeader, printRow, type Row } from './scale/report.ts';
import { openSide, type Side } from './scale/side.ts';

/*
 * npm run bench -- scale [--users 100000 --posts 1000000 --notifications 10000000] [--repeat 100] [--only search] [--keep directory]
 *
 * The same reads on a database of the given size and on one with a hundredth of the rows, one request at a time, in turns. With
 * `--keep`, the databases stay in the directory and are used again, because seeding takes long.
 */

const { values } = parseArgs({
  args: process.argv.slice(3),
  options: {
    users: { type: 'string', default: '100000' },
    posts: { type: 'string', default: '1000000' },
    notifications: { type: 'string', default: '10000000' },
    repeat: { type: 'string', default: '100' },
    only: { type: 'string', default: '' },
    keep: { type: 'string' },
  },
});
const full = {
  users: Number(values.users),
  posts: Number(values.posts),
  notifications: Number(values.notifications),
};
const small = {
  users: Math.round(full.users / 100),
  posts: Math.round(full.posts / 100),
  notifications: Math.round(full.notifications / 100),
};
const repeat = Number(values.repeat);
if (!Object.values(small).every((count) => Number.isSafeInteger(count) && count >= 40))
  throw new Error('--users, --posts and --notifications are at least 4000');
if (!(repeat >= 5 && repeat <= 10_000)) throw new Error('--repeat is 5 to 10000');

const write = (text: string) => process.stdout.write(`${text}\n`);
const directory = values.keep ?? (await mkdtemp(join(tmpdir(), 'dure-scale-')));
const sides: Side[] = [];
try {
  for (const [name, counts] of Object.entries({ small, full }))
    sides.push(await openSide(join(directory, name), counts));
  const [smallSide, fullSide] = sides;
  if (smallSide === undefined || fullSide === undefined) throw new Error('there are two sides');
  write(
    `load average ${loadavg()[0]?.toFixed(1)} on ${availableParallelism()} cores before the first read\n`,
  );
  const rows: Row[] = [];
  const run = async (title: string, reads: Read[], who: Who, limit: number) => {
    printHeader(title, limit);
    for (const read of reads) {
      if (!read.name.includes(values.only)) continue;
      const row = { limit, ...(await compare(read, who, { small: smallSide, full: fullSide }, repeat)) };
      rows.push(row);
      printRow(row);
    }
  };
  await run('an ordinary user', ownReads, 'ordinary', 1.2);
  await run('the owner of a tenth of everything', ownReads, 'owner', 3);
  await run('lists and searches of everything', sharedReads, 'ordinary', 1.2);
  const missing = (what: string) => rows.filter((row) => judge(row).includes(what)).length;
  write(`\n${rows.length - missing('NOT MET')} of ${rows.length} reads meet their targets:`);
  write(`${missing(' x')} grow more, ${missing(' ms')} take longer, ${missing('answered')} were rejected.`);
} finally {
  for (const side of sides) await side.close();
  if (values.keep === undefined) await rm(directory, { recursive: true, force: true });
}
