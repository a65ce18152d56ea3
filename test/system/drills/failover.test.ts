import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import t from 'tap';
import { createProvider } from '../../support/provider.ts';
import { production, startService } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { query } from '../embedded-postgres/support.ts';
import { createBalancer, followStream } from '../upgrade/load.ts';
import { cannotRun, startCluster } from './cluster.ts';
import { type Acknowledged, createClients, startLoad } from './load.ts';

/*
 * PostgreSQL fails over under load: kills, and planned switchovers. `npm run test:drills` does ten of them and prints the table of
 * docs/operations/high-availability.md; the slow tier does one of each.
 */

t.setTimeout(1_200_000);

const kinds = {
  short: ['PostgreSQL killed', 'switchover'],
  long: [
    ...['machine killed', 'switchover', 'PostgreSQL killed', 'switchover', 'machine killed'],
    ...['switchover', 'PostgreSQL killed', 'switchover', 'machine killed', 'switchover'],
  ],
}[process.env['DURE_DRILLS'] === 'long' ? 'long' : 'short'];

/** Seconds: Patroni's `ttl` and one of its loops; then HAProxy, PgBouncer and the service; and how long stragglers may come. */
const limits = { detection: 25, writes: 5, last503: 5 };

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
  const streams = receivers.map((token) => followStream(balancer, token));
  const load = await startLoad(clients, receivers);
  t.teardown(() => Promise.all([load.stop(), ...streams.map((stream) => stream.stop())]));

  const rows: string[][] = [];
  for (const [index, kind] of kinds.entries()) {
    const primary = await cluster.whole();
    const writesSince = (time: number) =>
      clients.answers.filter(
        ({ at, status, isWrite }) => isWrite && at >= time && (status === 200 || status === 201),
      );
    const calm = Date.now();
    await until('writes before it', () => writesSince(calm).length > 50);

    const begin = Date.now();
    const happening =
      kind === 'switchover'
        ? cluster.switchover(primary)
        : cluster.kill(primary, kind === 'machine killed' ? 'machine' : 'postgres');
    await cluster.primaryAfter(primary);
    const promoted = Date.now();
    await happening;
    await until('writes after it', () => writesSince(promoted).length > 0);
    await sleep(limits.last503 * 1_000 + 1_000);
    if (kind === 'machine killed') await cluster.startNode(primary);

    const times = [begin, ...writesSince(begin).map(({ at }) => at)];
    const pauses = times.slice(1).map((at, i) => ({ at, length: at - (times[i] ?? at) }));
    const writing = pauses.reduce((longest, one) => (one.length > longest.length ? one : longest)).at;
    const count = (wanted: number) =>
      clients.answers.filter(({ at, status }) => at >= begin && status === wanted);
    const last503 = (count(503).at(-1)?.at ?? writing) - writing;
    const { lost, doubled } = await compare(cluster.directUrl, load.acknowledged);
    const seconds = (milliseconds: number) => (milliseconds / 1_000).toFixed(1);
    rows.push([
      ...[String(index + 1), kind, seconds(promoted - begin), seconds(writing - begin)],
      ...[seconds(Math.max(0, last503)), String(writesSince(begin).length), String(count(503).length)],
      ...[String(count(500).length + count(0).length), String(lost), String(doubled)],
    ]);
    t.comment(rows.at(-1)?.join(' | '));
    t.ok(promoted - begin < limits.detection * 1_000, `${kind}: a new primary`);
    t.ok(writing - promoted < limits.writes * 1_000, `${kind}: writes`);
    t.ok(last503 < limits.last503 * 1_000, `${kind}: the last 503`);
    t.same([lost, doubled], [0, 0], `${kind}: nothing lost or doubled`);
  }

  await load.stop();
  t.same(clients.errors, [], 'every response is a success or 503');
  t.same(balancer.failures, [], 'no stream failed');
  for (const { child } of services) t.equal(child.exitCode, null, 'no instance ended');

  for (const [index, { ids, ended }] of streams.entries()) {
    const stored = await query(
      cluster.directUrl,
      `SELECT n.id::int FROM notifications n JOIN users u ON u.id = n.user_id WHERE u.username = '${names[index]}' ORDER BY n.id`,
    );
    await until('the last event', () => ids.length >= stored.length).catch(() => undefined);
    t.same(ids, stored, `a stream without gap or repetition: ${ids.length} events`);
    t.same(ended, [], 'it stayed open');
  }

  const addresses = load.acknowledged.users.map((username) => `${username}@example.com`);
  await until('all emails', () => addresses.every((to) => provider.taken(to).length > 0), 60);
  t.same(
    addresses.filter((to) => provider.taken(to).length !== 1),
    [],
    `each of ${addresses.length} emails once`,
  );

  const head = [
    '',
    'event',
    'new primary, s',
    'writes again, s',
    'last 503 after that, s',
    'writes',
    '503',
    '500',
    'lost',
    'doubled',
  ];
  const table = [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
  process.stderr.write(`${table}\n`);
});

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
