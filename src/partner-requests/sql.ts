import { type Sql, sql } from '../database/sql.ts';
import { isOpenStore, storeSummarySql } from '../stores/sql.ts';

/** What both sides see of the request `r`. What belongs to other tables is selected by id, because a join may read all rows. */
const requestColumns = sql`
  r.id, r.post_id, (SELECT title FROM posts WHERE id = r.post_id) AS post_title,
  r.status, r.message, r.created_at, r.updated_at`;

/** The columns of the request `r` as its sender sees it. */
export const sentColumns = sql`
  ${requestColumns}, r.receiver_store_id, (SELECT name FROM stores WHERE id = r.receiver_store_id) AS receiver_store_name`;

const senderStoreColumn = sql`
  (SELECT ${storeSummarySql} FROM stores s WHERE s.id = r.sender_store_id) AS sender_store`;

/** The columns of the request `r` as its receiver sees it. */
export const receivedColumns = sql`${requestColumns}, ${senderStoreColumn}`;

/** The columns of the request `r` as either side sees it. */
export const bothSidesColumns = sql`${sentColumns}, ${senderStoreColumn}`;

/** How to reach the other store `o` and its owner `u`, as JSON; null for a store that is closed or suspended. */
export const contactSql = sql`
  CASE WHEN u.id IS NOT NULL AND ${isOpenStore('o')}
    THEN json_build_object('name', u.name, 'email', u.email, 'phone_number', o.phone_number) END`;

/** The status of the newest request that a user's store sent for a post; null without one. The store is looked up once. */
export function newestStatusSql(userId: number, postId: Sql): Sql {
  // In the order of the ids: requests of a store are created one after the other, but may have begun in another order.
  return sql`(
    SELECT r.status FROM partner_requests r
    WHERE r.sender_store_id = (SELECT id FROM stores WHERE owner_id = ${userId}) AND r.post_id = ${postId}
    ORDER BY r.id DESC LIMIT 1)`;
}
