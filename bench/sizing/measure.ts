import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { seedDatabase } from '../../scripts/seed/database.ts';
import { say } from '../command-line.ts';
import { readUsers, withConnection } from '../data.ts';
import { withDatabase } from '../environment.ts';
import { runWorkload, workloads } from '../workloads.ts';

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
const walBytes = `SELECT (pg_current_wal_lsn() - '0/0')::float8 AS bytes`;
const seeded = ['users', 'stores', 'store_category_links', 'posts', 'partner_requests', 'notifications'];

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
  const measured: Measured = { operations: {}, rows: {}, memory: 0, hot: {} };
  await withDatabase(async ({ url, postmaster, start }) => {
    const users = await readUsers(url);
    await seedDatabase(url, { users: 4_000, posts: 20_000, notifications: 100_000 }, () => undefined);
    await withConnection(url, async (client) => {
      for (const table of seeded) measured.rows[table] = await bytesPerRow(client, table);
      for (const [table, statement] of Object.entries(samples))
        measured.rows[table] = await bytesPerRow(client, table, statement);
      await client.query('VACUUM ANALYZE');
      const server = await start();
      const updatesBefore = await readUpdates(client);
      // Those of compare.ts that are not operations of their own are left out.
      for (const workload of workloads.filter(({ name }) => name !== 'one-receiver')) {
        const counter = async () => (await client.query<{ bytes: number }>(walBytes)).rows[0]?.bytes ?? 0;
        const options = { servers: [server], postmaster, users, connections, seconds, counter };
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
      measured.rows['idempotency_keys'] = await bytesPerRow(client, 'idempotency_keys');
      // Backends report what they did once a second.
      await sleep(2_000);
      for (const [table, { all, hot }] of await readUpdates(client)) {
        const before = updatesBefore.get(table) ?? { all: 0, hot: 0 };
        const share = (hot - before.hot) / (all - before.all);
        if (all - before.all > 100) measured.hot[table] = Number(share.toFixed(3));
      }
    });
  });
  return measured;
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
