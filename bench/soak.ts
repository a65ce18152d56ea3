import process from 'node:process';
import { readOptions, say, sayErrors, sayHead, sayRow } from './command-line.ts';
import { type BenchUser, readUsers } from './data.ts';
import { type Server, withDatabase } from './environment.ts';
import { median, sendLoad } from './load.ts';
import { sum } from './processes.ts';
import { authorization, workloads } from './workloads.ts';

const MiB = 2 ** 20;
const ms = 0.001;

/**
 * What must not grow: its name; the metric, whose series are added up; how the samples of one third are reduced (the minimum is
 * what remains after a garbage collection); factor and noise of the limit for the last third, `middle * factor + noise`; the unit.
 */
type Measure = [string, string, 'median' | 'minimum', number, number, number];
const measures: Measure[] = [
  ['resident memory, MiB', 'process_resident_memory_bytes', 'median', 1.1, 10, MiB],
  ['used heap, MiB', 'nodejs_heap_size_used_bytes', 'minimum', 1.05, 2, MiB],
  ['memory beside the heap, MiB', 'nodejs_external_memory_bytes', 'minimum', 1.05, 2, MiB],
  ['open handles', 'nodejs_active_handles_total', 'minimum', 1.1, 5, 1],
  ['connections to PostgreSQL', 'database_pool_connections', 'median', 1, 1, 1],
  ['event loop delay, mean, ms', 'nodejs_eventloop_lag_mean_seconds', 'median', 1.5, 5, ms],
  ['event loop delay, 99 %, ms', 'nodejs_eventloop_lag_p99_seconds', 'median', 2, 20, ms],
];

/**
 * npm run bench -- soak [-- --seconds 300 --rate 80]
 *
 * All workloads at once, with `--rate` requests a second in all, beside streams that come and go. Compares the last third of the
 * time with the middle one; the first is the warm-up. Exit code 1 when something has grown, or after a response that was no
 * success. Only minutes say something.
 */
export async function soak(args: string[]): Promise<void> {
  const options = readOptions(args, { seconds: '300', rate: '80' });
  const seconds = Number(options.seconds);
  const rate = Math.round(Number(options.rate) / workloads.length);
  await withDatabase(async ({ url, start }) => {
    const users = await readUsers(url);
    const server = await start();
    const samples: Promise<number[]>[] = [];
    const visits: Promise<void>[] = [];
    const sampling = setInterval(() => samples.push(readSample(server)), (1_000 * seconds) / 90);
    const visiting = setInterval(() => visits.push(visit(server, users[visits.length % 20])), 1_000);
    const loads = workloads.map(async ({ createSenders }) =>
      sendLoad(server.url, await createSenders({ server, users, connections: 1 }), { seconds, rate }),
    );
    const results = await Promise.all(loads);
    clearInterval(sampling);
    clearInterval(visiting);
    await Promise.all(visits);
    const errors = results.flatMap((result) => result.errors);
    say(`${sum(results.map(({ requests }) => requests))} responses`);
    sayErrors('soak', errors);
    if (compareThirds(await Promise.all(samples))) process.exitCode = 1;
    say(process.exitCode ? 'Soak FAILED.' : 'Soak passed.');
  });
}

/** Opens a stream and leaves it, and sends requests that are rejected. */
async function visit({ url }: Server, user?: BenchUser): Promise<void> {
  const headers = authorization(user);
  const stream = await fetch(`${url}/api/v1/notifications/stream/`, { headers });
  const reader = stream.body?.getReader();
  await reader?.read();
  await reader?.cancel();
  for (const path of ['/nowhere/', '/api/v1/posts/?limit=0x10'])
    await (await fetch(url + path, { headers })).arrayBuffer();
}

async function readSample({ url }: Server): Promise<number[]> {
  const lines = (await (await fetch(`${url}/metrics`)).text()).split('\n');
  return measures.map(([, metric, , , , unit]) => {
    const series = lines.filter((one) => /^\w+/.exec(one)?.[0] === metric);
    if (series.length === 0) throw new Error(`metric ${metric} is missing`);
    return sum(series.map((one) => Number(one.split(' ').at(-1)))) / unit;
  });
}

/** Prints each measure per third. @returns whether one has grown */
function compareThirds(samples: number[][]): boolean {
  const third = Math.floor(samples.length / 3);
  let hasGrown = false;
  sayHead(['', 'first', 'middle', 'last', 'limit', '']);
  for (const [index, [name, , by, factor, noise]] of measures.entries()) {
    const [warm = 0, middle = 0, last = 0] = [0, 1, 2].map((part) => {
      const all = samples.slice(part * third, (part + 1) * third).map((sample) => sample[index] ?? 0);
      return by === 'minimum' ? Math.min(...all) : median(all);
    });
    const limit = middle * factor + noise;
    hasGrown ||= last > limit;
    const numbers = [warm, middle, last, limit].map((value) => value.toFixed(1));
    sayRow([name, ...numbers, last > limit ? 'HAS GROWN' : 'flat']);
  }
  return hasGrown;
}
