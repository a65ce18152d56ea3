import type { PartnerRequest } from '../../../infrastructure/database/generated/client.ts';
import { sql } from '../../../infrastructure/database/sql.ts';
import { type StoreSummary, storeSummarySql } from '../../stores/index.ts';

interface RequestFields extends Pick<PartnerRequest, 'status' | 'message' | 'createdAt' | 'updatedAt'> {
  id: number;
  postId: number;
  postTitle: string;
}

/** A request as its sender sees it. */
export interface SentRequestRow extends RequestFields {
  box: 'sent';
  receiverStoreId: number;
  receiverStoreName: string;
}

/** A request as its receiver sees it. */
export interface ReceivedRequestRow extends RequestFields {
  box: 'received';
  senderStore: StoreSummary;
}

/** A request as one of its sides sees it; `box` tells which. */
export type RequestRow = SentRequestRow | ReceivedRequestRow;

/** What both sides see of the request `r`. What belongs to other tables is selected by id, because a join may read all rows. */
export const requestColumns = sql`
  r.id, r.post_id AS "postId", (SELECT title FROM posts WHERE id = r.post_id) AS "postTitle",
  r.status, r.message, r.created_at AS "createdAt", r.updated_at AS "updatedAt"`;

export const receiverColumns = sql`
  r.receiver_store_id AS "receiverStoreId",
  (SELECT name FROM stores WHERE id = r.receiver_store_id) AS "receiverStoreName"`;

export const senderColumn = sql`
  (SELECT ${storeSummarySql} FROM stores s WHERE s.id = r.sender_store_id) AS "senderStore"`;

export const sentColumns = sql`'sent' AS box, ${requestColumns}, ${receiverColumns}`;

export const receivedColumns = sql`'received' AS box, ${requestColumns}, ${senderColumn}`;

/** How many requests a store has sent for a post within an hour. A statement that inserts one does not count it. */
export const countOfLastHourSql = sql`(
  SELECT count(*)::int FROM partner_requests
  WHERE sender_store_id = r.sender_store_id AND post_id = r.post_id AND created_at > now() - interval '1 hour')`;
