import type { Database, Tx } from '../../../infrastructure/database/client.ts';
import { raw, sql } from '../../../infrastructure/database/sql.ts';
import type { Outbox } from '../../../infrastructure/jobs/outbox.ts';
import { partitions } from './repository.ts';

/** Of saved searches, a user is notified of each so often a day in Korea; the rest is a digest. */
const matchesPerDay = 20;

const today = raw(`(now() AT TIME ZONE 'Asia/Seoul')::date`);

/** The day of the last time for digests, which is 19:00 in Korea. */
const digestDay = raw(`(now() AT TIME ZONE 'Asia/Seoul' - interval '19 hours')::date`);

/** How often users are notified of matches of their saved searches, and for how long. */
export function createMatchRepository(database: Database, { wake }: Pick<Outbox, 'wake'>) {
  /**
   * Counts a match for each user, and locks the counts until the transaction ends. Users who were deleted meanwhile are left out.
   *
   * @param ids in their order, to avoid deadlocks
   * @returns those who are to be notified of it; for the others it waits for their next digest
   */
  async function countMatches(tx: Tx, ids: number[]): Promise<Set<number>> {
    const counted = await tx.query<{ id: number; isOfDigest: boolean }>(sql`
      INSERT INTO notification_counts AS c (user_id, unread, match_day, matches)
      SELECT id, 0, ${today}, 1 FROM unnest(${ids}::int[]) AS matched(id)
      WHERE (SELECT true FROM users u WHERE u.id = matched.id)
      ON CONFLICT (user_id) DO UPDATE SET match_day = greatest(c.match_day, excluded.match_day),
        matches = 1 + CASE WHEN c.match_day >= excluded.match_day THEN c.matches ELSE 0 END,
        waiting_matches = c.waiting_matches
          + CASE WHEN c.match_day >= excluded.match_day AND c.matches >= ${matchesPerDay} THEN 1 ELSE 0 END
      RETURNING user_id AS id, matches > ${matchesPerDay} AS "isOfDigest"`);
    return new Set(counted.flatMap(({ id, isOfDigest }) => (isOfDigest ? [] : [id])));
  }

  /**
   * Takes the matches that wait, of some users who got no digest since the last time for one: a run after midnight belongs to the day
   * before.
   *
   * @returns none when there are no more
   */
  async function takeWaitingMatches(tx: Tx): Promise<{ userId: number; matches: number }[]> {
    return tx.query(sql`
      WITH due AS MATERIALIZED (
        SELECT c.user_id, c.waiting_matches FROM notification_counts c JOIN users u ON u.id = c.user_id
        WHERE c.waiting_matches > 0 AND c.digest_day IS DISTINCT FROM ${digestDay} AND u.suspended_at IS NULL
        ORDER BY c.user_id LIMIT 500 FOR NO KEY UPDATE OF c
      )
      UPDATE notification_counts c SET waiting_matches = 0, digest_day = ${digestDay} FROM due WHERE c.user_id = due.user_id
      RETURNING c.user_id AS "userId", due.waiting_matches AS matches`);
  }

  /**
   * Part of the clean-up: deletes unread notifications of saved searches that are older than `ttl` seconds; 0: none expire.
   *
   * Yields how many a step has deleted.
   */
  async function* deleteOldMatches(ttl: number): AsyncGenerator<number, void> {
    for (let partition = 0; ttl > 0 && partition < partitions; ) {
      const table = raw(`notifications_${partition}`);
      const [{ deleted = 0 } = {}] = await database.query<{ deleted: number }>(sql`
        WITH expired AS MATERIALIZED (
          SELECT user_id, id FROM ${table}
          WHERE NOT is_read AND kind IN ('saved_search_match', 'saved_search_digest')
            AND created_at < now() - make_interval(secs => ${ttl}) LIMIT 1000
        ), locked AS MATERIALIZED (
          SELECT FROM notification_counts WHERE user_id IN (SELECT user_id FROM expired)
          ORDER BY user_id FOR NO KEY UPDATE
        ), deleted AS (
          DELETE FROM ${table} n USING expired e
          WHERE n.user_id = e.user_id AND n.id = e.id AND NOT n.is_read AND (SELECT count(*) FROM locked) > 0
          RETURNING n.user_id
        ), counted AS (
          UPDATE notification_counts c SET unread = c.unread - d.deleted
          FROM (SELECT user_id, count(*) AS deleted FROM deleted GROUP BY user_id) d WHERE c.user_id = d.user_id
          RETURNING c.user_id
        ), woken AS (
          INSERT INTO outbox (user_id) SELECT user_id FROM counted
        )
        SELECT count(*)::int AS deleted FROM deleted`);
      yield deleted;
      if (deleted === 0) partition++;
      else wake();
    }
  }

  return { countMatches, takeWaitingMatches, deleteOldMatches };
}
