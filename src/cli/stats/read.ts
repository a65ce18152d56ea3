import type { Queryable } from '../../database/client.ts';
import { raw, sql } from '../../database/sql.ts';
import { sendMailTask } from '../../mail/queue.ts';

export type Stats = Awaited<ReturnType<typeof readStats>>;

const lastDay = "created_at > now() - interval '24 hours'";

/** Counts what an operator looks at in the morning. Each table is read once. */
export async function readStats(database: Queryable) {
  const count = async <Name extends string>(from: string, filters: Record<Name, string>) => {
    const columns = Object.entries<string>(filters)
      .map(([name, condition]) => `count(*) FILTER (WHERE ${condition})::float8 AS ${name}`)
      .join(', ');
    const [row] = await database.query<Record<Name, number>>(sql`SELECT ${raw(columns)} FROM ${raw(from)}`);
    if (row === undefined) throw new Error('an aggregate returned no row');
    return row;
  };
  return {
    users: await count('users', {
      total: 'true',
      verified: 'is_verified',
      suspended: 'suspended_at IS NOT NULL',
      admins: "role = 'admin'",
      new_24h: lastDay,
    }),
    sessions: await countSessions(database),
    stores: await count('stores', { open: 'closed_at IS NULL AND suspended_at IS NULL', new_24h: lastDay }),
    posts: await count('posts WHERE deleted_at IS NULL', { total: 'true', new_24h: lastDay }),
    partner_requests: await count('partner_requests', {
      requested: "status = 'requested'",
      accepted: "status = 'accepted'",
      declined: "status = 'declined'",
      withdrawn: "status = 'withdrawn'",
      ended: "status = 'ended'",
      new_24h: lastDay,
    }),
    pictures: await count("images WHERE state = 'ready'", { total: 'true', new_24h: lastDay }),
    mails: {
      ...(await readQueue(database)),
      ...(await count('failed_mails', { failed: 'true', failed_24h: lastDay })),
    },
    reports: await count('reports', { open: 'closed_at IS NULL' }),
    database: await measureDatabase(database),
  };
}

async function countSessions(database: Queryable): Promise<{ live: number; users: number }> {
  const [row] = await database.query<{ live: number; users: number }>(sql`
    SELECT count(*)::float8 AS live, count(DISTINCT s.user_id)::float8 AS users
    FROM sessions s JOIN users u ON u.id = s.user_id WHERE s.expires_at > now() AND u.suspended_at IS NULL`);
  return row ?? { live: 0, users: 0 };
}

interface Queue {
  queued: number;
  retried: number;
  /** Since the oldest mail was queued. */
  oldest_seconds: number;
}

async function readQueue(database: Queryable): Promise<Queue> {
  const [row] = await database.query<Queue>(sql`
    SELECT count(*)::float8 AS queued, count(*) FILTER (WHERE last_error IS NOT NULL)::float8 AS retried,
      coalesce(round(extract(epoch FROM now() - min(created_at))), 0)::float8 AS oldest_seconds
    FROM graphile_worker.jobs WHERE task_identifier = ${sendMailTask}`);
  return row ?? { queued: 0, retried: 0, oldest_seconds: 0 };
}

interface DatabaseSize {
  bytes: number;
  connections: number;
  version: string;
}

async function measureDatabase(database: Queryable): Promise<DatabaseSize> {
  const [row] = await database.query<DatabaseSize>(sql`
    SELECT pg_database_size(current_database())::float8 AS bytes,
      (SELECT count(*)::float8 FROM pg_stat_activity WHERE datname = current_database()) AS connections,
      split_part(current_setting('server_version'), ' ', 1) AS version`);
  return row ?? { bytes: 0, connections: 0, version: '' };
}
