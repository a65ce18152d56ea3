import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { readOptions, say, sayHead, sayRow } from './command-line.ts';
import { type BenchUser, beginSessions, password, readUsers } from './data.ts';
import { type Server, withDatabase } from './environment.ts';
import { median } from './load.ts';
import { sum } from './processes.ts';
import { authorization } from './workloads.ts';

const MiB = 2 ** 20;
const ms = 0.001;

/**
 * What must not grow: the metric, whose series are added up; how the samples of one third are reduced (the minimum is what remains
 * after a garbage collection); the limit for the last third, `middle * factor + noise`; the unit of the table in that of the metric.
 */
type Measure = [
  string,
  metric: string,
  by: 'median' | 'minimum',
  factor: number,
  noise: number,
  unit: number,
];
const measures: Measure[] = [
  ['resident memory, MiB', 'process_resident_memory_bytes', 'median', 1.1, 10, MiB],
  ['used heap, MiB', 'nodejs_heap_size_used_bytes', 'minimum', 1.05, 2, MiB],
  ['memory beside the heap, MiB', 'nodejs_external_memory_bytes', 'minimum', 1.05, 2, MiB],
  ['open handles', 'nodejs_active_handles_total', 'minimum', 1.1, 5, 1],
  ['connections to PostgreSQL', 'database_pool_connections', 'median', 1, 1, 1],
  ['event loop delay, mean, ms', 'nodejs_eventloop_lag_mean_seconds', 'median', 1.5, 5, ms],
  ['event loop delay, 99 %, ms', 'nodejs_eventloop_lag_p99_seconds', 'median', 2, 20, ms],
];

/** A user with a store and a post, and the last refresh token. */
type Visitor = BenchUser & { refresh: string };

/** Sends one request and reads its response to the end. */
async function call(url: string, method: string, visitor: Pick<Visitor, 'access'>, body?: object) {
  const headers = { ...authorization(visitor), ...(body ? { 'content-type': 'application/json' } : {}) };
  const response = await fetch(url, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) });
  const text = await response.text();
  return { status: response.status, data: text.startsWith('{') ? JSON.parse(text).data : undefined };
}

/** What somebody does. @returns the last response */
type Visit = (url: string, visitor: Visitor, other: Visitor) => Promise<{ status: number }>;

const posts = '/api/v1/posts/';
const reads = [
  ...[posts, '/api/v1/stores/?q=두레', '/auth/me/', '/api/v1/notifications/mypage/', '/nowhere/'],
  ...['/api/v1/stores/categories/', '/api/v1/stores/mypage/', `${posts}?limit=0x10`],
].map(
  (path): Visit =>
    (url, visitor) =>
      call(url + path, 'GET', visitor),
);

/** Once round is one of each, so the load is the same at any time. */
const visits: Visit[] = [
  ...reads,
  (url, visitor) => call(`${url}${posts}${visitor.postId}/`, 'GET', visitor),
  (url, visitor) =>
    call(`${url}${posts}${visitor.postId}/`, 'PATCH', visitor, { title: '같이 팝업 열 가게' }),
  async (url, visitor, { postId }) => {
    const requests = `${url}/api/v1/notifications/partner-request/`;
    const sent = await call(requests, 'POST', visitor, { post_id: postId, message: '함께 해요!' });
    return sent.status === 201 ? call(`${requests}${sent.data.id}/withdraw/`, 'POST', visitor) : sent;
  },
  async (url, visitor) => {
    const { refresh } = visitor;
    const refreshed = await call(`${url}/auth/token/refresh/`, 'POST', visitor, { refresh });
    if (refreshed.status === 200) Object.assign(visitor, refreshed.data);
    return refreshed;
  },
  async (url, visitor) => {
    const { username } = visitor;
    const login = await call(`${url}/auth/login/`, 'POST', visitor, { username, password });
    return login.status === 200 ? call(`${url}/auth/logout/`, 'POST', login.data) : login;
  },
  async (url, visitor) => {
    const path = '/api/v1/notifications/stream/';
    const stream = await fetch(url + path, { headers: authorization(visitor) });
    const reader = stream.body?.getReader();
    await reader?.read();
    await reader?.cancel();
    return stream;
  },
];

/**
 * npm run soak [-- --seconds 300 --rate 80]
 *
 * The service under constant load: compares the last third of the time with the middle one; the first is the warm-up. Exit code 1
 * when memory, connections or the event loop delay have grown, or after a 5xx response. Only minutes say something.
 */
export async function soak(args: string[]): Promise<void> {
  const options = readOptions(args, { seconds: '300', rate: '80' });
  await withDatabase(async ({ url, start }) => {
    const users = (await readUsers(url)).slice(100, 120);
    const tokens = await beginSessions(url, users);
    const visitors = users.map((user, index) => ({ ...user, refresh: tokens[index] ?? '' }));
    const server = await start();
    const [seconds, rate] = [Number(options.seconds), Number(options.rate)];
    const { samples, statuses } = await load(server, visitors, { seconds, rate });
    const responses = [...statuses].sort(([one], [other]) => one - other);
    say(`responses: ${responses.map(([status, count]) => `${count} of ${status}`).join(', ')}`);
    const hasGrown = compareThirds(samples);
    const hasFailed = responses.some(([status]) => status >= 500);
    say(hasGrown || hasFailed ? 'Soak FAILED.' : 'Soak passed.');
    if (hasGrown || hasFailed) process.exitCode = 1;
  });
}

/** Sends the load. @returns 90 samples of the measures, and how often which status came */
async function load(
  server: Server,
  visitors: Visitor[],
  { seconds, rate }: Record<'seconds' | 'rate', number>,
) {
  const statuses = new Map<number, number>();
  const samples: number[][] = [];
  const waiting = new Set<Promise<void>>();
  const started = performance.now();
  const elapsed = () => performance.now() - started;
  for (let turn = 0; elapsed() < 1_000 * seconds; turn++) {
    const round = Math.floor(turn / visits.length);
    const [visitor, other] = [0, 1].map((next) => visitors[(round + next) % visitors.length]);
    const visit = visits[turn % visits.length];
    if (!visit || !visitor || !other) throw new Error('there are no users');
    const answered = visit(server.url, visitor, other).then(({ status }) => {
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      waiting.delete(answered);
    });
    waiting.add(answered);
    while (elapsed() > (samples.length * 1_000 * seconds) / 90) samples.push(await readSample(server));
    await sleep(Math.max(0, ((turn + 1) * 1_000) / rate - elapsed()));
  }
  await Promise.all(waiting);
  return { samples, statuses };
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
