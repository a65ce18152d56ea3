import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readOptions, say, sayErrors, sayHead, sayRow } from './command-line.ts';
import { withConnection } from './data.ts';
import { median, percentile } from './load.ts';
import { sum } from './processes.ts';
import { ownReads, type Reads, sharedReads, type Viewer } from './scale/reads.ts';
import { get, type Side, withSide } from './scale/side.ts';

/** Milliseconds of CPU of PostgreSQL that a read may take at full size. */
const longestRead = 50;
/** Milliseconds that a response takes outside PostgreSQL on an idle machine, whatever is in the database. */
const elsewhere = 0.5;
/** Milliseconds after which a read is no longer repeated. */
const patience = 4_000;
const [fewest, warmUps, mostPages] = [5, 20, 1_000];

/** What is read by whom, and by what factor it may take longer at full size. */
const parts: { title: string; reads: Reads; who: 'ordinary' | 'owner'; limit: number }[] = [
  { title: 'an ordinary user', reads: ownReads, who: 'ordinary', limit: 1.2 },
  { title: 'the owner of a tenth of everything', reads: ownReads, who: 'owner', limit: 3 },
  { title: 'lists and searches of everything', reads: sharedReads, who: 'ordinary', limit: 1.2 },
];

/**
 * npm run bench -- scale [--users 100000 --posts 1000000 --notifications 10000000] [--repeat 100] [--only search] [--keep directory]
 *
 * The same reads on a database of the given size and on one with a hundredth of the rows, one request at a time, in turns. With
 * `--keep`, the databases stay in the directory and are used again, because seeding takes long.
 */
export async function scale(args: string[]): Promise<void> {
  const sizes = { users: '100000', posts: '1000000', notifications: '10000000' };
  const options = readOptions(args, { ...sizes, repeat: '100', only: '', keep: '' });
  const withSize = (name: string, divisor: number, work: (side: Side) => Promise<void>) => {
    const [users = 0, posts = 0, notifications = 0] = [
      options.users,
      options.posts,
      options.notifications,
    ].map((count) => Math.round(Number(count) / divisor));
    const folder = options.keep === '' ? undefined : join(options.keep, name);
    return withSide({ users, posts, notifications, folder }, work);
  };
  await withSize('small', 100, (small) =>
    withSize('full', 1, async (full) => {
      for (const part of parts) await comparePart(part, [small, full], options);
    }),
  );
}

/** Prints a part of the table. */
async function comparePart(
  { title, reads, who, limit }: (typeof parts)[number],
  sides: [small: Side, full: Side],
  { only, repeat }: { only: string; repeat: string },
): Promise<void> {
  const [, full] = sides;
  const [viewer] = full[who];
  if (!viewer) throw new Error('there are no users');
  const figures = ['p50', 'p99', 'CPU', 'CPU99'];
  say(`\n${title}: at most ${limit} x\n`);
  sayHead(['read', ...figures.map((one) => `${one} at 1/100`), ...figures, 'requests', '']);
  for (const name of Object.keys(reads(viewer)).filter((one) => one.includes(only))) {
    const pathOf = (one: Viewer) => reads(one)[name] ?? '';
    try {
      await readInTurns(sides, { who, pathOf, rounds: warmUps });
      const [few, many] = await readInTurns(sides, { who, pathOf, rounds: Number(repeat) });
      if (!few || !many) continue;
      const cells = [...Object.values(few), ...Object.values(many)].map((one) => one.toFixed(2));
      const requests = await requestsUntilFound(full, viewer, pathOf(viewer));
      sayRow([name, ...cells, requests, judge(few, many, limit)]);
    } catch (error) {
      sayErrors(name, [String(error)]);
    }
  }
}

/** Milliseconds of one read at one size: time until the response was read, and CPU of PostgreSQL (the mean and the 99th percentile). */
interface Figures {
  p50: number;
  p99: number;
  cpu: number;
  cpu99: number;
}

/** Judges by the CPU time of PostgreSQL, because that is what grows, and because it hardly depends on what else runs. */
function judge(small: Figures, full: Figures, limit: number): string {
  const grows = elsewhere + full.cpu > (elsewhere + small.cpu) * limit;
  const exceeded = [
    ...(grows ? [`${limit} x`] : []),
    ...(full.cpu99 > longestRead ? [`${longestRead} ms`] : []),
  ];
  return exceeded.length === 0 ? 'met' : `NOT MET: ${exceeded.join(', ')}`;
}

interface Reading {
  who: 'ordinary' | 'owner';
  pathOf(viewer: Viewer): string;
  rounds: number;
}

/** Reads at each size in turns. */
async function readInTurns(sides: Side[], { who, pathOf, rounds }: Reading): Promise<Figures[]> {
  const samplers: (Side & { readCpu: () => number; times: number[]; cpu: number[] })[] = [];
  for (const side of sides) samplers.push({ ...side, readCpu: await openCpuMeter(side), times: [], cpu: [] });
  const began = performance.now();
  for (let turn = 0; turn < rounds && (turn < fewest || performance.now() - began < patience); turn++) {
    for (const { url, [who]: viewers, readCpu, times, cpu } of samplers) {
      const viewer = viewers[turn % viewers.length];
      if (!viewer) throw new Error('there are no users');
      const [start, before] = [performance.now(), readCpu()];
      await get(url, pathOf(viewer), viewer.token);
      times.push(performance.now() - start);
      cpu.push(readCpu() - before);
    }
  }
  return samplers.map(({ times, cpu }) => ({
    p50: median(times),
    p99: percentile(times, 0.99),
    cpu: sum(cpu) / cpu.length,
    cpu99: percentile(cpu, 0.99),
  }));
}

/**
 * Reads the CPU time of PostgreSQL for the present connections of the service, in milliseconds. Nanoseconds are read from
 * `schedstat`, because ticks are too coarse.
 */
async function openCpuMeter({ databaseUrl }: Side): Promise<() => number> {
  const { rows } = await withConnection(databaseUrl, (client) =>
    client.query<{ pid: number }>("SELECT pid FROM pg_stat_activity WHERE application_name = 'dure'"),
  );
  const readOne = (pid: number) => Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]);
  return () => sum(rows.map(({ pid }) => readOne(pid))) / 1e6;
}

/** Requests that follow `next_cursor` until a page has an item or the list ends. */
async function requestsUntilFound({ url }: Side, { token }: Viewer, path: string): Promise<number> {
  const target = new URL(path, url);
  for (let requests = 1; ; requests++) {
    const { data } = await get(url, `${target.pathname}${target.search}`, token);
    if (!data.next_cursor || data.items?.length > 0 || requests === mostPages) return requests;
    target.searchParams.set('cursor', data.next_cursor);
  }
}
