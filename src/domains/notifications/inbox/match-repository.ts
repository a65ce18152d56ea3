import type { Tx } from '../../../infrastructure/database/client.ts';
import { constant, raw, sql } from '../../../infrastructure/database/sql.ts';

/** Of saved searches, a user is notified of each so often a day in Korea; the rest is a digest. */
const matchesPerDay = 20;

const today = raw(`(now() AT TIME ZONE 'Asia/Seoul')::date`);

/** Whether a user has had the matches of the day, before another one is counted. */
const isOfDigest = sql`c.match_day >= excluded.match_day AND c.matches >= ${constant(matchesPerDay)}`;

/** The day of the last time for digests, which is 19:00 in Korea. */
const digestDay = raw(`(now() AT TIME ZONE 'Asia/Seoul' - interval '19 hours')::date`);

/**
 * Counts a match for users, in their order, as unread where it is one of the day, and locks the counts.
 *
 * @returns who is notified of it; for others it waits for their next digest
 */
export async function countMatches(tx: Tx, ids: number[]): Promise<Set<number>> {
  const counted = await tx.query<{ id: number; isOfDigest: boolean }>(sql`
    INSERT INTO notification_counts AS c (user_id, unread, match_day, matches)
    SELECT id, 1, ${today}, 1 FROM unnest(${ids}::int[]) AS matched(id)
    WHERE (SELECT true FROM users u WHERE u.id = matched.id)
    ON CONFLICT (user_id) DO UPDATE SET match_day = greatest(c.match_day, excluded.match_day),
      matches = 1 + CASE WHEN c.match_day >= excluded.match_day THEN c.matches ELSE 0 END,
      unread = c.unread + CASE WHEN ${isOfDigest} THEN 0 ELSE 1 END,
      waiting_matches = c.waiting_matches + CASE WHEN ${isOfDigest} THEN 1 ELSE 0 END
    RETURNING user_id AS id, matches > ${matchesPerDay} AS "isOfDigest"`);
  return new Set(counted.flatMap(({ id, isOfDigest }) => (isOfDigest ? [] : [id])));
}

/** Takes the matches of users without a digest since the last time for one: a run after midnight belongs to the day before. */
export async function takeWaitingMatches(tx: Tx): Promise<{ userId: number; matches: number }[]> {
  return tx.query(sql`
    WITH due AS MATERIALIZED (
      SELECT c.user_id, c.waiting_matches FROM notification_counts c JOIN users u ON u.id = c.user_id
      WHERE c.waiting_matches > 0 AND c.digest_day IS DISTINCT FROM ${digestDay} AND u.suspended_at IS NULL
      ORDER BY c.user_id LIMIT 500 FOR NO KEY UPDATE OF c
    )
    UPDATE notification_counts c SET waiting_matches = 0, digest_day = ${digestDay} FROM due WHERE c.user_id = due.user_id
    RETURNING c.user_id AS "userId", due.waiting_matches AS matches`);
}
