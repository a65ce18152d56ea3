import { ofLastDay, quotaFullUntil } from '../database/daily-quota.ts';
import { type Sql, sql } from '../database/sql.ts';

/** Requests a day of one store for one post; asking, withdrawing and asking again notifies the receiver each time. */
const requestsPerPost = 5;

/**
 * SQL of the time at which a store may send a request for a post again; null while it may. Requests count in whatever state they
 * are.
 *
 * @param quota requests a day of a store; 0: neither this quota nor that of a post
 */
export function requestQuotaFullUntil(sender: number, postId: number, quota: number): Sql {
  const sent = sql`SELECT created_at FROM partner_requests WHERE sender_store_id = ${sender} AND ${ofLastDay}`;
  return sql`greatest(
    ${quotaFullUntil(sent, quota)},
    ${quotaFullUntil(sql`${sent} AND post_id = ${postId}`, quota === 0 ? 0 : requestsPerPost)})`;
}

/** SQL of how many requests a store has sent for a post within an hour. A statement that inserts one does not count it. */
export function countOfLastHourSql(sender: Sql, postId: Sql): Sql {
  return sql`(
    SELECT count(*)::int FROM partner_requests
    WHERE sender_store_id = ${sender} AND post_id = ${postId} AND created_at > now() - interval '1 hour')`;
}
