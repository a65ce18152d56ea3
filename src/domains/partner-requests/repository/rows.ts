import type { PartnerRequestStatus } from '../../../infrastructure/database/generated/enums.ts';
import { sql } from '../../../infrastructure/database/sql.ts';
import { storeSummarySql } from '../../stores/index.ts';
import type { PartnerRequest, ReceivedPartnerRequest } from '../schemas.ts';

/** What the API shows of a request, as the database has it. */
type Stored<Request extends PartnerRequest | ReceivedPartnerRequest> = Omit<
  Request,
  'status' | 'created_at' | 'updated_at'
> & { status: PartnerRequestStatus; created_at: Date; updated_at: Date };

/** A request as its sender sees it. */
export type SentRequestRow = Stored<PartnerRequest>;

/** A request as its receiver sees it. */
export type ReceivedRequestRow = Stored<ReceivedPartnerRequest>;

/** A request as one of its sides sees it; `box` tells which. */
export type RequestRow = SentRequestRow | ReceivedRequestRow;

/** What both sides see of the request `r`. What belongs to other tables is selected by id, because a join may read all rows. */
export const requestColumns = sql`
  r.id, r.post_id, (SELECT title FROM posts WHERE id = r.post_id) AS post_title,
  r.status, r.message, r.created_at, r.updated_at`;

export const receiverColumns = sql`
  r.receiver_store_id, (SELECT name FROM stores WHERE id = r.receiver_store_id) AS receiver_store_name`;

export const senderColumn = sql`
  (SELECT ${storeSummarySql} FROM stores s WHERE s.id = r.sender_store_id) AS sender_store`;

export const sentColumns = sql`'sent' AS box, ${requestColumns}, ${receiverColumns}`;

export const receivedColumns = sql`'received' AS box, ${requestColumns}, ${senderColumn}`;

/** How many requests a store has sent for a post within an hour. A statement that inserts one does not count it. */
export const countOfLastHourSql = sql`(
  SELECT count(*)::int FROM partner_requests
  WHERE sender_store_id = r.sender_store_id AND post_id = r.post_id AND created_at > now() - interval '1 hour')`;
