import type { Queryable } from '../database/client.ts';
import { type Sql, sql } from '../database/sql.ts';

/** A user who is notified about a request. */
export interface Recipient {
  userId: number;
  requestId: number;
}

/** Withdraws the pending requests for a post. @returns their senders */
export function withdrawOfPost(tx: Queryable, postId: number): Promise<Recipient[]> {
  return withdraw(tx, pendingWhere(sql`post_id = ${postId}`), sql`w.sender_store_id`);
}

/** Withdraws the pending requests that a store sent or received. @returns the other sides */
export function withdrawOfStore(tx: Queryable, storeId: number): Promise<Recipient[]> {
  return withdraw(
    tx,
    // Not `OR`, for which the pending requests of all stores may be read.
    sql`${pendingWhere(sql`sender_store_id = ${storeId}`)}
      UNION ALL ${pendingWhere(sql`receiver_store_id = ${storeId}`)}`,
    sql`CASE w.sender_store_id WHEN ${storeId} THEN w.receiver_store_id ELSE w.sender_store_id END`,
  );
}

function pendingWhere(condition: Sql): Sql {
  return sql`SELECT id FROM partner_requests WHERE ${condition} AND status = 'requested'`;
}

/**
 * Withdraws requests that are still pending. Rows are locked in id order to avoid deadlocks, and updated and looked up by their
 * ids, because a join may read all requests and stores.
 *
 * @param ids a query for the ids
 * @param notifiedStore SQL of the store of `w` whose owner is to be notified
 * @returns the owners whose accounts exist
 */
function withdraw(tx: Queryable, ids: Sql, notifiedStore: Sql): Promise<Recipient[]> {
  return tx.query<Recipient>(sql`
    WITH pending AS (
      SELECT id FROM partner_requests WHERE id = ANY (ARRAY(${ids})) AND status = 'requested' ORDER BY id FOR UPDATE
    ), withdrawn AS (
      UPDATE partner_requests SET status = 'withdrawn', updated_at = now()
      WHERE id = ANY (ARRAY(SELECT id FROM pending))
      RETURNING id, sender_store_id, receiver_store_id
    ), notified AS (
      SELECT (SELECT owner_id FROM stores WHERE id = ${notifiedStore}) AS "userId", w.id AS "requestId" FROM withdrawn w
    )
    SELECT "userId", "requestId" FROM notified WHERE "userId" IS NOT NULL ORDER BY "requestId"`);
}
