import type {
  PartnerRequest,
  UnreadNotification,
} from '../../../infrastructure/database/generated/client.ts';
import { type Sql, sql } from '../../../infrastructure/database/sql.ts';
import type { PostSummaryRow } from '../../posts/index.ts';
import { isOpenStore, type StoreSummary, storeSummarySql } from '../../stores/index.ts';
import type { PartnershipKind } from './schemas.ts';

interface AnyRow extends Pick<UnreadNotification, 'createdAt'> {
  id: number;
  isRead: boolean;
}

/** A notification with the request it is about. */
interface PartnershipRow
  extends AnyRow,
    Pick<PartnerRequest, 'status' | 'message' | 'senderStoreId' | 'receiverStoreId'> {
  kind: PartnershipKind;
  requestId: number;
  postId: number;
  postTitle: string;
  senderStoreName: string;
  receiverStoreName: string;
  /** Whether the recipient is the sender of the request; else the receiver. */
  toSender: boolean;
}

/** A notification with the post it is about. */
interface MatchRow extends AnyRow {
  kind: 'saved_search_match';
  match: { savedSearchId: number; post: PostSummaryRow; store: StoreSummary };
}

export type NotificationRow = PartnershipRow | MatchRow;

/** The match `n`. A post that readers do not find any more keeps its title only. */
const matchSql = sql`
  SELECT json_build_object('savedSearchId', n.saved_search_id, 'store', ${storeSummarySql},
    'post', json_build_object('id', p.id, 'title', p.title, 'createdAt', p.created_at,
      'firstImage', CASE WHEN p.is_visible AND ${isOpenStore('s')} THEN p.images[1] END))
  FROM posts p JOIN stores s ON s.id = p.store_id WHERE p.id = n.post_id`;

/** Adds what they are about to rows of `notifications`, given as a query. Most are about requests, whose joins are remembered. */
export const withSubjects = (notifications: Sql) => sql`
  SELECT n.id, n.kind, n.is_read AS "isRead", n.created_at AS "createdAt", r.id AS "requestId",
    r.post_id AS "postId", p.title AS "postTitle", r.status, r.message, r.sender_store_id AS "senderStoreId",
    s.name AS "senderStoreName", r.receiver_store_id AS "receiverStoreId", v.name AS "receiverStoreName",
    coalesce(s.owner_id = n.user_id, false) AS "toSender",
    CASE WHEN n.post_id IS NOT NULL THEN (${matchSql}) END AS match
  FROM (${notifications}) n
  LEFT JOIN partner_requests r ON r.id = n.partner_request_id
  LEFT JOIN posts p ON p.id = r.post_id
  LEFT JOIN stores s ON s.id = r.sender_store_id
  LEFT JOIN stores v ON v.id = r.receiver_store_id`;
