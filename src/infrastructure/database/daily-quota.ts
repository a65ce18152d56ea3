import { advisoryLocks } from './advisory-locks.ts';
import type { Tx } from './client.ts';
import { raw, type Sql, sql } from './sql.ts';

/*
 * Daily quotas of a store or a user: at most so many rows within any 24 hours. A transaction takes
 * the quota lock of the owner in one statement and counts in a later one, because a statement that waits for a lock does not
 * see what was committed meanwhile. The lock comes before all row locks, to avoid deadlocks.
 */

const quotaLocks = { store: advisoryLocks.storeQuotas, user: advisoryLocks.userQuotas };

/** Takes the quota lock of a store or a user until the transaction ends. */
export async function lockQuota(tx: Tx, owner: keyof typeof quotaLocks, id: number): Promise<void> {
  await tx.execute(sql`SELECT pg_advisory_xact_lock(${quotaLocks[owner]}::int, ${id}::int)`);
}

/** What Prisma's client looks for: the oldest row of those that fill a quota. Reading it ends there, however many rows there are. */
export const fullQuota = (quota: number) =>
  ({
    where: { createdAt: { gt: new Date(Date.now() - day) } },
    orderBy: { createdAt: 'desc' },
    skip: quota - 1,
    select: { createdAt: true },
  }) as const;

/** Seconds until 24 hours after a time, such as that of the row of {@link fullQuota}; undefined without one. */
export function secondsUntilDayAfter(time: Date): number;
export function secondsUntilDayAfter(time: Date | undefined): number | undefined;
export function secondsUntilDayAfter(time: Date | undefined): number | undefined {
  return time && Math.max(0, time.getTime() + day - Date.now()) / 1000;
}

const day = 24 * 60 * 60 * 1000;

/** The condition of rows that count. */
export const ofLastDay = sql`created_at > now() - interval '24 hours'`;

/**
 * SQL of the time at which a quota has room again; null while it has room.
 *
 * @param rows a query for `created_at` of the rows that count
 * @param quota a constant, as it becomes part of the text; 0: no quota
 */
export function quotaFullUntil(rows: Sql, quota: number): Sql {
  if (quota === 0) return sql`NULL::timestamptz`;
  // The oldest row of those that fill the quota. Reading it ends there, however many rows there are.
  return sql`(
    SELECT created_at + interval '24 hours' FROM (${rows}) counted
    ORDER BY created_at DESC OFFSET ${raw(String(quota - 1))} LIMIT 1)`;
}

/** SQL of the seconds from now until a time. */
export function secondsUntil(time: Sql): Sql {
  return sql`extract(epoch FROM ${time} - now())::float8`;
}
