import { expiredAfter } from './clean-up.ts';
import type { Tx } from './client.ts';
import { raw, type Sql, sql } from './sql.ts';

/** What is counted: posts and edits of a store, and what a user does. */
type DailyKind = 'post' | 'edit' | 'report' | 'image' | 'download' | 'consent';

const isOver = raw(`counter.since < now() - interval '24 hours'`);
const literalOf = (kind: DailyKind) => raw(`'${kind}'`);

/** Counts whose 24 hours are over. */
export const expiredCounts = expiredAfter('24 hours', 'daily_counts', 'since');

/**
 * SQL that counts within 24 hours from the first count, and returns the `id` of the owner; no row when the quota is used up. Concurrent
 * counts of an owner wait here. It comes before what is counted, because a rollback leaves what that added to the indexes.
 *
 * @param owners a query for the `id` of a store or a user
 * @param quota 0: nothing is counted
 */
export function countDaily(kind: DailyKind, owners: Sql, quota: number): Sql {
  if (quota === 0) return owners;
  return sql`
    INSERT INTO daily_counts AS counter (kind, owner_id) SELECT ${literalOf(kind)}, id FROM (${owners}) owner
    ON CONFLICT (kind, owner_id) DO UPDATE SET
      since = CASE WHEN ${isOver} THEN now() ELSE counter.since END,
      count = CASE WHEN ${isOver} THEN 1 ELSE counter.count + 1 END
    WHERE ${isOver} OR counter.count < ${quota}
    RETURNING owner_id AS id`;
}

/** Counts what a user does. @returns undefined, or the seconds until it may be counted */
export async function countOfUser(
  tx: Tx,
  kind: DailyKind,
  { userId, quota }: { userId: number; quota: number },
): Promise<number | undefined> {
  const counted = await tx.execute(sql`/* quotas.count */
    ${countDaily(kind, sql`SELECT ${userId}::int AS id`, quota)}`);
  return counted > 0 ? undefined : secondsUntilNext(tx, kind, sql`${userId}`);
}

/** Takes back one count. */
export async function uncountOfUser(tx: Tx, kind: DailyKind, userId: number): Promise<void> {
  const where = { kind, ownerId: userId, count: { gt: 0 } };
  await tx.prisma.dailyCount.updateMany({ where, data: { count: { decrement: 1 } } });
}

/** The seconds until an owner has a new quota; 0 without an owner. */
export async function secondsUntilNext(tx: Tx, kind: DailyKind, owner: Sql): Promise<number> {
  const [counter] = await tx.query<{ seconds: number }>(sql`/* quotas.secondsUntilNext */
    SELECT greatest(0, extract(epoch FROM since + interval '24 hours' - now()))::float8 AS seconds
    FROM daily_counts WHERE kind = ${literalOf(kind)} AND owner_id = (${owner})`);
  return counter?.seconds ?? 0;
}
