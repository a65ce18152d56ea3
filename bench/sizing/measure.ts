import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import webPush from 'web-push';
import { readMigrations } from '../../scripts/check-migrations/folder.ts';
import { seedDatabase } from '../../scripts/seed/database.ts';
import { post } from '../../test/support/service.ts';
import { say } from '../command-line.ts';
import { type BenchUser, busyUsers, readUsers, withConnection } from '../data.ts';
import { type Environment, type Server, withDatabase } from '../environment.ts';
import { costOf } from '../processes.ts';
import { connect } from '../stream-clients.ts';
import { authorization, runWorkload, sizedWorkloads, workloads } from '../workloads.ts';

/** What operations and rows cost. */
export interface Measured {
  /** The newest migration when it was measured. */
  migration: string;
  /** For each operation: microseconds of CPU, and bytes of WAL. Also for a user whose search matches a post, a second of a stream, and a push message. */
  operations: Record<string, { service: number; postgres: number; wal: number }>;
  /** Bytes for each row, with its indexes. */
  rows: Record<string, number>;
  /** The most resident memory of an instance, in MiB. */
  memory: number;
  /** Of the updates of a table, the share that changed no index (HOT). */
  hot: Record<string, number>;
}

const connections = 16;
const walBytes = `SELECT (pg_current_wal_lsn() - '0/0')::float8 AS bytes`;
const seeded = [
  'users',
  'stores',
  'store_category_links',
  'saved_searches',
  'posts',
  'partner_requests',
  'notifications',
];

/** Rows of which the data has none or few that are like real ones. */
const samples = {
  sessions: `
    INSERT INTO sessions (id, user_id, rotated_at, user_agent, ip, expires_at)
    SELECT gen_random_uuid(), id, ARRAY[now()], repeat('a', 130), '192.0.2.200', now() + interval '14 days'
    FROM (SELECT id FROM users LIMIT 2000) u, generate_series(1, 10)`,
  known_addresses: `
    INSERT INTO known_addresses (user_id, address) SELECT id, '192.0.2.' || n
    FROM (SELECT id FROM users LIMIT 2000) u, generate_series(1, 10) n`,
};

/** Measures all operations on a service with its worker, and the rows of a seeded database. @param seconds of each operation */
export async function measure(seconds: number): Promise<Measured> {
  const [migration = ''] = (await readMigrations()).slice(-1);
  const measured: Measured = { migration, operations: {}, rows: {}, memory: 0, hot: {} };
  await withDatabase(async ({ url, postmaster, start }) => {
    const users = await readUsers(url);
    await seedDatabase(url, { users: 4_000, posts: 20_000, notifications: 100_000 }, () => undefined);
    await withConnection(url, async (client) => {
      for (const table of seeded) measured.rows[table] = await bytesPerRow(client, table);
      for (const [table, statement] of Object.entries(samples))
        measured.rows[table] = await bytesPerRow(client, table, statement);
      // Matching is measured by itself, of searches that are known.
      await client.query('DELETE FROM saved_searches');
      await client.query('VACUUM ANALYZE');
      const server = await start();
      const updatesBefore = await readUpdates(client);
      // Those of compare.ts that are not operations of their own are left out.
      const counter = async () => (await client.query<{ bytes: number }>(walBytes)).rows[0]?.bytes ?? 0;
      const own = workloads.filter(({ name }) => name !== 'one-receiver');
      for (const workload of [...own, ...sizedWorkloads]) {
        // There are few of them in a second.
        const time = workload.name === 'upload-image' ? 3 * seconds : seconds;
        const options = { servers: [server], postmaster, users, connections, seconds: time, counter };
        // The engine compiles what the workload needs.
        await runWorkload(workload, options);
        const { counted, requests, cpu, postgresCpu, peak, errors } = await runWorkload(workload, options);
        if (errors.length > 0) throw new Error(`${workload.name}: ${errors.join('; ')}`);
        measured.operations[workload.name] = {
          service: Math.round(cpu),
          postgres: Math.round(postgresCpu),
          wal: Math.round(counted / requests),
        };
        measured.memory = Math.max(measured.memory, Math.round(peak));
        say(`${workload.name}: ${JSON.stringify(measured.operations[workload.name])}`);
      }
      measured.operations['match'] = await measureMatches({ client, server, postmaster, users, counter });
      measured.operations['stream-second'] = await measureStreams(server, postmaster, users);
      measured.operations['push'] = { service: measurePush(), postgres: 0, wal: 0 };
      measured.rows['idempotency_keys'] = await bytesPerRow(client, 'idempotency_keys');
      // Backends report what they did once a second.
      await sleep(2_000);
      for (const [table, { all, hot }] of await readUpdates(client)) {
        const before = updatesBefore.get(table) ?? { all: 0, hot: 0 };
        const share = (hot - before.hot) / (all - before.all);
        if (all - before.all > 100 && share > 0) measured.hot[table] = Number(share.toFixed(3));
      }
    });
  });
  return measured;
}

interface MatchRun extends Pick<Environment, 'postmaster'> {
  client: pg.Client;
  server: Server;
  users: BenchUser[];
  counter(): Promise<number>;
}

/** What a post costs for each user whose saved search it matches, until all are notified; the post itself is a thousandth of it. */
async function measureMatches({ client, server, postmaster, users, counter }: MatchRun) {
  const matching = users.slice(busyUsers);
  await client.query(
    `INSERT INTO saved_searches (user_id, name, q) SELECT user_id, '다람쥐', '다람쥐' FROM unnest($1::int[]) user_id`,
    [matching.map(({ id }) => id)],
  );
  const [last] = matching.slice(-1);
  const isDone = async (postId: number) => {
    const { rows } = await client.query<{ user: number; left: number }>(
      `SELECT (SELECT after_user_id FROM post_alerts WHERE post_id = $1) AS user, (SELECT count(*) FROM outbox) AS left`,
      [postId],
    );
    return rows[0]?.user === last?.id && rows[0]?.left === 0;
  };
  const rounds = 5;
  const publish = async () => {
    const body = { title: '다람쥐 도토리', content: '함께 해요!', images: [] };
    const { status, text } = await post(`${server.url}/api/v1/posts/`, body, authorization(users[0]));
    if (status !== 201) throw new Error(`a post was answered with ${status}: ${text}`);
    const { id } = JSON.parse(text).data;
    for (const end = performance.now() + 60_000; !(await isDone(id)); await sleep(500))
      if (performance.now() > end) throw new Error('not all users were notified');
  };
  // The engine compiles what it needs.
  await publish();
  const before = await counter();
  const cost = await costOf({ servers: [server], postmaster }, async () => {
    for (let round = 0; round < rounds; round++) await publish();
  });
  const each = rounds * matching.length;
  return {
    service: Math.round((cost.instances / each) * 1e6),
    postgres: Math.round((cost.postgres / each) * 1e6),
    wal: Math.round(((await counter()) - before) / each),
  };
}

/** What a second of an open stream costs: heartbeats, and checks of its session. */
async function measureStreams(server: Server, postmaster: number, users: BenchUser[]) {
  const seconds = 60;
  const clients = users.map((user) => ({ user, notifiedAt: 0, countedAt: 0, retry: 0 }));
  for (const client of clients) await connect(server.url, client);
  const cost = await costOf({ servers: [server], postmaster }, () => sleep(1_000 * seconds));
  const each = seconds * clients.length;
  const perSecond = (cpu: number) => Number(((cpu / each) * 1e6).toFixed(1));
  return { service: perSecond(cost.instances), postgres: perSecond(cost.postgres), wal: 0 };
}

/** Microseconds to encrypt and sign a push message, as `push/delivery.ts` does; without its request. */
function measurePush(): number {
  const messages = 500;
  const { publicKey, privateKey } = webPush.generateVAPIDKeys();
  const keys = { p256dh: publicKey, auth: 'AAAAAAAAAAAAAAAAAAAAAA' };
  const before = process.cpuUsage();
  for (let count = 0; count < messages; count++) {
    webPush.generateRequestDetails({ endpoint: 'https://push.example.com/1', keys }, 'x'.repeat(300), {
      vapidDetails: { subject: 'https://api.example.com', publicKey, privateKey },
      contentEncoding: 'aes128gcm',
    });
  }
  const { user, system } = process.cpuUsage(before);
  return Math.round((user + system) / messages);
}

/** Bytes of a row with its indexes; of the rows that a statement adds, if there is one. */
async function bytesPerRow(client: pg.Client, table: string, statement?: string): Promise<number> {
  const before = statement === undefined ? { bytes: 0, count: 0 } : await sizeOf(client, table);
  if (statement !== undefined) await client.query(statement);
  const after = await sizeOf(client, table);
  return Math.round((after.bytes - before.bytes) / (after.count - before.count));
}

/** Bytes of a table with its indexes and partitions, and its rows. */
async function sizeOf(client: pg.Client, table: string): Promise<{ bytes: number; count: number }> {
  const { rows } = await client.query<{ bytes: number; count: number }>(
    `SELECT (SELECT count(*) FROM ${table}) AS count, (SELECT sum(pg_total_relation_size(relid)) FROM (
       SELECT $1::regclass AS relid UNION SELECT relid FROM pg_partition_tree($1::regclass)) parts)::float8 AS bytes`,
    [table],
  );
  return rows[0] ?? { bytes: 0, count: 0 };
}

async function readUpdates(client: pg.Client): Promise<Map<string, { all: number; hot: number }>> {
  const { rows } = await client.query<{ table: string; all: number; hot: number }>(
    'SELECT relname AS table, n_tup_upd AS all, n_tup_hot_upd AS hot FROM pg_stat_user_tables',
  );
  return new Map(rows.map((row) => [row.table, row]));
}
