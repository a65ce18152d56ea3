import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { seedDatabase } from '../../scripts/seed/database.ts';
import { postText, searchWords } from '../../scripts/seed/texts.ts';
import { int8AsNumber } from '../../src/infrastructure/database/client.ts';
import { type BenchUser, beginSessions, readUsers } from '../data.ts';
import { type Sender, sendLoad } from '../load.ts';
import { cpuTime, cpuTimeWithChildren, memory } from '../processes.ts';
import { startDatabase, startMeasuredService } from '../servers.ts';
import { deleteJobs } from '../targets.ts';
import { type Workload, workloads } from '../workloads.ts';

/** What operations and rows cost. */
export interface Measured {
  /** For each operation: microseconds of CPU, and bytes of WAL. */
  operations: Record<string, { service: number; postgres: number; wal: number }>;
  /** Bytes for each row, with its indexes. */
  rows: Record<string, number>;
  /** The most resident memory of an instance, in MiB. */
  memory: number;
  /** Of the updates of a table, the share that changed no index (HOT). */
  hot: Record<string, number>;
}

const connections = 16;
const seconds = { warmUp: 2, run: 4 };

/** The number of the last post. */
let posts = 1_000_000;

/** Operations that `npm run bench` does not measure, or not in the way of many users. */
const more: Pick<Workload, 'name' | 'createSenders'>[] = [
  ...[
    ['feed', '/api/v1/posts/'],
    ['search', `/api/v1/posts/?q=${encodeURIComponent(searchWords.frequent)}`],
  ].map(([name = '', path = '']) => ({
    name,
    createSenders: async ({ users }: { users: BenchUser[] }) =>
      users
        .slice(0, connections)
        .map(
          ({ access }): Sender => ({ method: 'GET', path, headers: { authorization: `Bearer ${access}` } }),
        ),
  })),
  {
    // Of many sessions: one that is refreshed many times a second keeps the times of all refreshes of the last 10 s.
    name: 'refresh',
    createSenders: async ({ server, users }) => {
      const tokens = await beginSessions(server.databaseUrl, users);
      return Array.from({ length: connections }, (_, first) => {
        let at = first;
        return {
          method: 'POST',
          path: '/auth/token/refresh/',
          headers: { 'content-type': 'application/json' },
          next() {
            at = (at + connections) % tokens.length;
            return { body: `{"refresh":"${tokens[at]}"}` };
          },
          onResponse(body) {
            tokens[at] = /"refresh":"([^"]+)"/.exec(body)?.[1] ?? '';
          },
        };
      });
    },
  },
  {
    name: 'create-post',
    createSenders: async ({ users }) =>
      users.slice(100, 100 + connections).map(({ access }) => ({
        method: 'POST',
        path: '/api/v1/posts/',
        headers: {},
        next() {
          const headers = { authorization: `Bearer ${access}`, 'content-type': 'application/json' };
          const body = JSON.stringify({ ...postText(++posts, posts), images: [] });
          return { body, headers: { ...headers, 'idempotency-key': randomUUID() } };
        },
      })),
  },
];

/** Rows of which the workloads leave none or few that are like real ones. */
const samples = {
  sessions: `
    INSERT INTO sessions (id, user_id, rotated_at, user_agent, ip, expires_at)
    SELECT gen_random_uuid(), id, ARRAY[now()], repeat('a', 130), '192.0.2.200', now() + interval '14 days'
    FROM (SELECT id FROM users LIMIT 2000) u, generate_series(1, 10)`,
  known_addresses: `
    INSERT INTO known_addresses (user_id, address) SELECT id, '192.0.2.' || n
    FROM (SELECT id FROM users LIMIT 2000) u, generate_series(1, 10) n`,
};

/** Measures all operations on a service with its worker, and the rows of a seeded database. Takes about three minutes. */
export async function measure(say: (line: string) => void): Promise<Measured> {
  const database = await startDatabase();
  const client = new pg.Client({ connectionString: database.url, types: int8AsNumber });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const users = await readUsers(database.url);
    await seedDatabase(
      database.url,
      { users: 4_000, posts: 20_000, notifications: 100_000 },
      () => undefined,
    );
    const rows: Measured['rows'] = {};
    for (const table of [
      'users',
      'stores',
      'store_category_links',
      'posts',
      'partner_requests',
      'read_notifications',
    ]) {
      const { bytes, count } = await sizeOf(client, table);
      rows[table] = bytes / count;
    }
    for (const [table, statement] of Object.entries(samples)) {
      const before = await sizeOf(client, table);
      await client.query(statement);
      const after = await sizeOf(client, table);
      rows[table] = (after.bytes - before.bytes) / (after.count - before.count);
    }
    await client.query('VACUUM ANALYZE');
    const server = await startMeasuredService(database.url, database.mailUrl, { QUOTA_POSTS_PER_DAY: '0' });
    const operations: Measured['operations'] = {};
    const updatesBefore = await readUpdates(client);
    try {
      for (const { name, createSenders } of [
        ...workloads.filter(({ name }) => name !== 'refresh'),
        ...more,
      ]) {
        const run = async (duration: number) => {
          const senders = await createSenders({ server, users, connections });
          const result = await sendLoad(server.url, senders, duration);
          if (result.errors.length > 0) throw new Error(`${name}: ${result.errors.join('; ')}`);
          return result.requests;
        };
        await run(seconds.warmUp);
        await deleteJobs(database.url);
        const read = async () => ({
          service: await cpuTime(server.pid),
          postgres: await cpuTimeWithChildren(database.postmaster),
          wal:
            (await client.query<{ bytes: number }>(`SELECT (pg_current_wal_lsn() - '0/0')::float8 AS bytes`))
              .rows[0]?.bytes ?? 0,
        });
        const before = await read();
        const requests = await run(seconds.run);
        const after = await read();
        const each = (of: keyof typeof before) => Math.round((after[of] - before[of]) / requests);
        operations[name] = { service: each('service'), postgres: each('postgres'), wal: each('wal') };
        say(`${name}: ${JSON.stringify(operations[name])}`);
        await deleteJobs(database.url);
      }
      const keys = await sizeOf(client, 'idempotency_keys');
      rows['idempotency_keys'] = keys.bytes / keys.count;
      // Backends report what they did once a second.
      await sleep(2_000);
      const updates = await readUpdates(client);
      const hot = [...updates].flatMap(([table, { all, hot }]) => {
        const before = updatesBefore.get(table) ?? { all: 0, hot: 0 };
        return all - before.all > 100 ? [[table, (hot - before.hot) / (all - before.all)] as const] : [];
      });
      const { peak } = await memory(server.pid);
      return {
        operations,
        rows: Object.fromEntries(Object.entries(rows).map(([table, bytes]) => [table, Math.round(bytes)])),
        memory: Math.round(peak),
        hot: Object.fromEntries(hot.map(([table, share]) => [table, Number(share.toFixed(3))])),
      };
    } finally {
      await server.end();
    }
  } finally {
    await client.end();
    await database.stop();
  }
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
