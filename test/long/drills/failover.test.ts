import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import t from 'tap';
import { execute } from '../../support/database.ts';
import { createProvider } from '../../support/provider.ts';
import { production, startService } from '../../support/service.ts';
import { atMost } from '../../support/time.ts';
import { until } from '../../support/until.ts';
import { createBalancer, followStream } from '../upgrade/load.ts';
import { cannotRun, startCluster } from './cluster.ts';
import { type Acknowledged, type Answer, createClients, startLoad } from './load.ts';

/* PostgreSQL fails over ten times under load. docs/operations/high-availability.md sums up what it prints. */

type Kind = 'machine killed' | 'PostgreSQL killed' | 'switchover';
const machine: Kind[] = ['machine killed', 'switchover'];
const server: Kind[] = ['PostgreSQL killed', 'switchover'];
const kinds = [...machine, ...server, ...machine, ...server, ...machine];
t.setTimeout(atMost(600_000));

/**
 * Milliseconds on a quiet machine: Patroni's `ttl` and one of its loops; then HAProxy, PgBouncer and the service; and until the last
 * 503.
 */
const limits = { detection: 25_000, writes: 5_000, last503: 5_000 };

/** Milliseconds that any response may take. */
const promisedTime = 10_000;

const columns = { users: 'username', posts: 'title', partner_requests: 'message' } as const;

t.test('failovers lose nothing, and no instance is restarted', { skip: cannotRun }, async (t) => {
  const cluster = await startCluster(t);
  const provider = await createProvider(t);
  const environment = {
    ...production,
    DATABASE_URL: cluster.pooledUrl,
    DATABASE_DIRECT_URL: cluster.directUrl,
    RESEND_BASE_URL: provider.url,
    MIGRATE_ON_START: 'true',
    // Longer than the test, because each logs in once.
    ACCESS_TOKEN_TTL: '2h',
    RATE_LIMIT_ENABLED: 'false',
    QUOTA_POSTS_PER_DAY: '0',
    QUOTA_REQUESTS_PER_DAY: '0',
  };
  const services = [await startService(environment), await startService(environment)];
  t.teardown(() => Promise.all(services.map((service) => service.end('SIGKILL'))));

  const clients = createClients(services.map(({ url }) => url));
  const names = ['receiver_0', 'receiver_1'];
  const receivers = await Promise.all(names.map((name) => clients.openStore(name)));
  const balancer = createBalancer();
  for (const service of services) balancer.add(service);
  const streams = receivers.map((token) => followStream(balancer, { token }));
  const load = await startLoad(clients, receivers);
  // Its errors are those of the test itself, which stops it, too.
  const stopLoad = () => load.stop().catch(() => undefined);
  t.teardown(() => Promise.all([stopLoad(), ...streams.map((stream) => stream.stop())]));

  const rows: (string | number)[][] = [];
  for (const [index, kind] of kinds.entries()) {
    const primary = await cluster.whole();
    const writesSince = (time: number) => measure(clients.answers, time).writes;
    const calm = Date.now();
    await until('writes before it', () => writesSince(calm) > 50);

    const begin = Date.now();
    const happening = kind === 'switchover' ? cluster.switchover(primary) : cluster.kill(primary, kind);
    await cluster.primaryAfter(primary);
    const promoted = Date.now();
    await happening;
    await until('writes after it', () => writesSince(promoted) > 0);
    const from = clients.answers.length;
    await until('a hundred responses in sequence without a 503', () => {
      const last = clients.answers.slice(from).slice(-100);
      return last.length === 100 && last.every((answer) => answer.status !== 503);
    });
    await sleep(limits.last503);
    if (kind === 'machine killed') await cluster.startNode(primary);

    const { writing, last503, writes, unavailable, failed } = measure(clients.answers, begin);
    const { lost, doubled } = await compare(cluster.directUrl, load.acknowledged);
    const seconds = [promoted - begin, writing - begin, last503].map((one) => (one / 1_000).toFixed(1));
    const row = [index + 1, kind, ...seconds, writes, unavailable, failed, lost, doubled];
    rows.push(row);
    t.comment(row.join(' | '));
    t.ok(promoted - begin < atMost(limits.detection), `${kind}: a new primary`);
    t.ok(writing - promoted < atMost(limits.writes), `${kind}: writes`);
    t.ok(last503 < atMost(limits.last503), `${kind}: the last 503`);
    t.same([lost, doubled], [0, 0], `${kind}: nothing lost or doubled`);
  }

  await load.stop();
  t.same(clients.errors, [], 'every response is a success or 503');
  const longest = Math.max(...clients.answers.map(({ took }) => took));
  t.ok(longest < atMost(promisedTime), 'each within ten seconds');
  t.same(balancer.failures, [], 'no stream failed');
  for (const { child } of services) t.equal(child.exitCode, null, 'no instance ended');

  for (const [index, { ids, ended }] of streams.entries()) {
    const stored = await execute(
      cluster.directUrl,
      `SELECT n.id::int FROM notifications n JOIN users u ON u.id = n.user_id WHERE u.username = '${names[index]}' ORDER BY n.id`,
    );
    await until('the last event', () => ids.length >= stored.length).catch(() => undefined);
    t.same(ids, stored, `a stream without gap or repetition: ${ids.length} events`);
    t.same(ended, [], 'it stayed open');
  }

  const addresses = load.acknowledged.users.map((username) => `${username}@example.com`);
  // A lock of a lost worker ends after 45 seconds, and after four failed attempts the next waits for 55.
  await until('all emails', () => addresses.every((to) => provider.taken(to).length > 0));
  const repeated = addresses.filter((to) => provider.taken(to).length !== 1);
  t.same(repeated, [], `each of ${addresses.length} emails once`);

  const times = ['new primary, s', 'writes again, s', 'last 503 after that, s'];
  const head = ['', 'event', ...times, 'writes', '503', '500', 'lost', 'doubled'];
  const table = [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
  process.stderr.write(`${table}\n`);
});

/** What clients have seen since a time. `writing` is the end of the longest time without a write, `last503` milliseconds after it. */
function measure(answers: Answer[], begin: number) {
  const since = answers.filter(({ at }) => at >= begin);
  const times = since.filter(({ status, isWrite }) => isWrite && (status === 200 || status === 201));
  const statuses = (wanted: number[]) => since.filter(({ status }) => wanted.includes(status));
  let [writing, longest, before] = [begin, 0, begin];
  for (const { at } of times) {
    if (at - before > longest) [writing, longest] = [at, at - before];
    before = at;
  }
  const unavailable = statuses([503]);
  return {
    writing,
    last503: Math.max(0, (unavailable.at(-1)?.at ?? 0) - writing),
    writes: times.length,
    unavailable: unavailable.length,
    failed: statuses([0, 500]).length,
  };
}

/** How many acknowledged values have no row, and how many have more than one. */
async function compare(url: string, acknowledged: Acknowledged) {
  let lost = 0;
  let doubled = 0;
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (const [table, column] of Object.entries(columns) as [keyof Acknowledged, string][]) {
      // Before the query, because more are acknowledged during it.
      const values = [...acknowledged[table]];
      const { rows } = await client.query<{ value: string; count: number }>(
        `SELECT ${column} AS value, count(*)::int FROM ${table} WHERE ${column} = ANY ($1) GROUP BY 1`,
        [values],
      );
      lost += values.length - rows.length;
      doubled += rows.filter(({ count }) => count > 1).length;
    }
  } finally {
    await client.end();
  }
  return { lost, doubled };
}
