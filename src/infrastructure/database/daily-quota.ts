import type { ExpiredRows } from './clean-up.ts';
import type { Tx } from './client.ts';
import { advisoryLocks } from './locks.ts';
import { constant, raw, type Sql, sql } from './sql.ts';

/*
 * Daily quotas of a store or a user: at most so many rows within any 24 hours, or so many counts within 24 hours from the first.
 * A transaction takes the lock of a quota of rows in one statement and counts in a later one, because a statement that waits for a
 * lock does not see what was committed meanwhile. The lock comes before all row locks, to avoid deadlocks.
 */

const quotaLocks = { store: advisoryLocks.storeQuotas, user: advisoryLocks.userQuotas };
const day = raw(`interval '24 hours'`);
const secondsUntilDayAfter = (time: Sql) =>
  sql`greatest(0, extract(epoch FROM ${time} + ${day} - now()))::float8`;

/** Takes the quota lock of a store or a user until the transaction ends. @param owner a query for its `id`, which is returned */
export async function lockQuota(
  tx: Tx,
  kind: keyof typeof quotaLocks,
  owner: Sql,
): Promise<number | undefined> {
  const [locked] = await tx.query<{ id: number }>(sql`/* quotas.lock_${raw(kind)} */
    SELECT owner.id FROM (${owner}) owner, pg_advisory_xact_lock(${constant(quotaLocks[kind])}, owner.id)`);
  return locked?.id;
}

/**
 * The seconds until a quota has room again; undefined while it has.
 *
 * @param rows a query for `created_at` of the rows that count, which ends at the oldest of those that fill the quota
 * @param quota a constant, as it becomes part of the text; 0: no quota
 */
export async function secondsUntilRoom(tx: Tx, rows: Sql, quota: number): Promise<number | undefined> {
  if (quota === 0) return undefined;
  const [full] = await tx.query<{ seconds: number }>(sql`/* quotas.secondsUntilRoom */
    SELECT ${secondsUntilDayAfter(raw('created_at'))} AS seconds FROM (${rows}) counted
    WHERE created_at > now() - ${day} ORDER BY created_at DESC OFFSET ${constant(quota - 1)} LIMIT 1`);
  return full?.seconds;
}

/** A table with a row for each owner: when the first of the last counts was, and how many there are. */
interface DailyCounter {
  table: string;
  owner: string;
  count: string;
}

/** Counts within 24 hours from the first one. */
export function createDailyCounter({ table, owner, count }: DailyCounter) {
  const isOver = sql`counter.since < now() - ${day}`;
  const expired: ExpiredRows = { table, condition: sql`since < now() - ${day}` };

  return {
    /** Rows whose 24 hours are over. */
    expired,

    /**
     * SQL that counts and returns the `id` of the owner; no row when the quota is used up. Concurrent counts wait here.
     *
     * @param quota 0: nothing is counted
     */
    count(owners: Sql, quota: number): Sql {
      if (quota === 0) return owners;
      return sql`
        INSERT INTO ${raw(table)} AS counter (${raw(owner)}) ${owners}
        ON CONFLICT (${raw(owner)}) DO UPDATE SET
          since = CASE WHEN ${isOver} THEN now() ELSE counter.since END,
          ${raw(count)} = CASE WHEN ${isOver} THEN 1 ELSE counter.${raw(count)} + 1 END
        WHERE ${isOver} OR counter.${raw(count)} < ${quota}
        RETURNING ${raw(owner)} AS id`;
    },

    /** The seconds until the owner has a new quota; undefined where nothing was counted. */
    async secondsUntilNext(tx: Tx, owners: Sql): Promise<number | undefined> {
      const [counter] = await tx.query<{ seconds: number }>(sql`/* quotas.${raw(table)} */
        SELECT ${secondsUntilDayAfter(raw('since'))} AS seconds FROM ${raw(table)} WHERE ${raw(owner)} = (${owners})`);
      return counter?.seconds;
    },
  };
}
