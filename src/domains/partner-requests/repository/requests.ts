import type { Database, Tx } from '../../../infrastructure/database/client.ts';
import { lockQuotaSql, secondsUntil } from '../../../infrastructure/database/daily-quota.ts';
import type { PartnerRequestStatus } from '../../../infrastructure/database/generated/enums.ts';
import { afterId, afterTime, type PageRequest } from '../../../infrastructure/database/keyset.ts';
import { empty, raw, type Sql, sql } from '../../../infrastructure/database/sql.ts';
import type { MailQueue } from '../../../infrastructure/mail/queue.ts';
import { isOpenPost, type PostSummaryRow } from '../../posts/index.ts';
import { isOpenStore, type StoreSummary, storeSummarySql } from '../../stores/index.ts';
import type { Contact } from '../schemas.ts';
import {
  type ReceivedRequestRow,
  type RequestRow,
  receivedColumns,
  receiverColumns,
  requestColumns,
  type SentRequestRow,
  senderColumn,
  sentColumns,
} from './rows.ts';
import { closeOfStore, transition, withdrawOfPost } from './transitions.ts';

/** A request with all that one of its sides sees of it. */
export type RequestDetailRow = RequestRow & {
  senderStore: StoreSummary;
  receiverStore: StoreSummary;
  /** Null when the post was deleted or hidden, or its store is. */
  post: PostSummaryRow | null;
  /** Null unless the request is accepted and both stores are open. */
  contact: Contact | null;
};

/** What a store asks of another. */
interface NewRequest {
  userId: number;
  postId: number;
  message: string;
  /** Requests a day of a store; 0: neither this quota nor that of a post. */
  quota: number;
}

/** The request, or with an `id` of null why there is none. */
type CreateResult = {
  /** The stores; null where there is none. */
  sender: number | null;
  receiver: number | null;
  /** Whether the store of the sender is neither closed nor suspended. */
  senderExists: boolean;
  /** Whether that of the receiver is not either, and the post is visible. */
  postExists: boolean;
  /** Whether the post takes requests; null where it does not exist. */
  isOpen: boolean | null;
  /** Seconds until the quotas have room; null while they have. */
  wait: number | null;
} & (SentRequestRow | { id: null });

interface RequestFilter extends PageRequest {
  userId: number;
  box: RequestRow['box'];
  /** All without it. */
  status: PartnerRequestStatus | undefined;
}

/** Requests a day of one store for one post; asking, withdrawing and asking again notifies the receiver each time. */
const requestsPerPost = 5;

/** Emails per hour about the requests of one store for one post, so that requesting and declining in a loop sends few. */
export const maxMailsPerHour = 5;

/** More than there can be. */
const noQuota = 2 ** 31 - 1;

/** SQL of what follows a request, for the statement that creates it. */
export interface Announcements {
  unrequestedSql: MailQueue['unrequestedSql'];
  notifySql(recipients: Sql): Sql;
}

export type PartnerRequests = ReturnType<typeof createPartnerRequestRepository>;

/** Partner requests. */
export function createPartnerRequestRepository(database: Database, announcements: Announcements) {
  /**
   * One page of the requests that the user's store sent or received, newest first; none without a store. Each box, with and
   * without a status, is another text, as it is read through an index of its own that is in the order of the list.
   */
  async function list({ userId, box, status, after, limit }: RequestFilter): Promise<RequestRow[]> {
    const ownStore = raw(box === 'sent' ? 'sender_store_id' : 'receiver_store_id');
    const ofStatus = status === undefined ? empty : sql`AND status = ${status}::partner_request_status`;
    const page = sql`(
      SELECT * FROM partner_requests
      WHERE ${ownStore} = (SELECT id FROM stores WHERE owner_id = ${userId}) ${ofStatus}
        AND (created_at, id) < (${afterTime(after)}, ${afterId(after)})
      ORDER BY created_at DESC, id DESC LIMIT ${limit}
    ) r ORDER BY r.created_at DESC, r.id DESC`;
    return box === 'sent'
      ? database.query<SentRequestRow>(sql`SELECT ${sentColumns} FROM ${page}`)
      : database.query<ReceivedRequestRow>(sql`SELECT ${receivedColumns} FROM ${page}`);
  }

  /** A request of a user's store. @returns undefined for everyone but its two sides */
  async function findDetail(id: number, userId: number): Promise<RequestDetailRow | undefined> {
    const [request] = await database.query<RequestDetailRow>(sql`
      SELECT CASE WHEN o.id = s.id THEN 'received' ELSE 'sent' END AS box, ${requestColumns}, ${receiverColumns},
        ${senderColumn}, (SELECT ${storeSummarySql} FROM stores s WHERE s.id = r.receiver_store_id) AS "receiverStore",
        CASE WHEN p.is_visible AND ${isOpenStore('v')} THEN json_build_object(
          'id', p.id, 'title', p.title, 'firstImage', p.images[1], 'createdAt', p.created_at) END AS post,
        CASE WHEN r.status = 'accepted' AND ${isOpenStore('s')} AND ${isOpenStore('v')} THEN (
          SELECT json_build_object('name', u.name, 'email', u.email, 'phone_number', o.phone_number)
          FROM users u WHERE u.id = o.owner_id) END AS contact
      FROM partner_requests r JOIN posts p ON p.id = r.post_id
      JOIN stores s ON s.id = r.sender_store_id JOIN stores v ON v.id = r.receiver_store_id
      JOIN stores o ON o.id = CASE WHEN s.owner_id = ${userId} THEN v.id ELSE s.id END
      WHERE r.id = ${id} AND (s.owner_id = ${userId} OR v.owner_id = ${userId})`);
    return request;
  }

  /**
   * Creates a request, with its notification and its email, in one statement: a transaction of its own on the pool. It takes the
   * quota lock of the sender, then locks both stores and the post against being closed, suspended or deleted: stores before posts
   * and in id order, to avoid deadlocks. The caller wakes the relay of the outbox after the commit.
   */
  async function create(tx: Tx, { userId, postId, message, quota }: NewRequest): Promise<CreateResult> {
    const { unrequestedSql, notifySql } = announcements;
    const kind = 'partner_request_received';
    const quotaOfPost = quota === 0 ? noQuota : requestsPerPost;
    const email = sql`
      SELECT receiver_user AS user_id, jsonb_build_object('request_id', id) AS payload FROM created, checked
      WHERE sent_within_hour < ${maxMailsPerHour}`;
    const recipient = sql`
      SELECT receiver_user AS user_id, ${kind}::notification_kind AS kind, id AS request_id, NULL::bigint AS post_id,
        NULL::int AS saved_search_id
      FROM created, checked
      WHERE (SELECT count(*) FROM mailed) >= 0`;
    // The store of a post never changes. Each step waits for those before it, as it needs their rows. What `ON CONFLICT` rejects
    // has already taken an id, hence the look for an open request before.
    const [row] = await tx.query<CreateResult>(sql`
      WITH stores_of_request AS MATERIALIZED (
        SELECT sender, receiver, ${lockQuotaSql(sql`sender`)} AS quota_lock
        FROM (
          SELECT (SELECT id FROM stores WHERE owner_id = ${userId}) AS sender,
            (SELECT store_id FROM posts WHERE id = ${postId}) AS receiver
        ) ids
      ), open_stores AS MATERIALIZED (
        SELECT s.id, s.owner_id FROM stores_of_request JOIN stores s ON s.id = ANY (ARRAY[sender, receiver])
        WHERE ${isOpenStore('s')} AND s.owner_id IS NOT NULL
        ORDER BY s.id + 0 FOR SHARE OF s
      ), post AS MATERIALIZED (
        SELECT p.id, ${isOpenPost('p')} AS is_open FROM posts p
        WHERE p.id = ${postId} AND p.is_visible AND (SELECT count(*) FROM open_stores) > 0 FOR SHARE
      ), checked AS MATERIALIZED (
        SELECT sender, receiver, room.*,
          EXISTS (SELECT FROM open_stores WHERE id = sender) AS sender_exists,
          (SELECT owner_id FROM open_stores WHERE id = receiver AND EXISTS (SELECT FROM post)) AS receiver_user,
          (SELECT is_open FROM post) AS is_open,
          EXISTS (
            SELECT FROM partner_requests
            WHERE sender_store_id = sender AND post_id = ${postId} AND status IN ('requested', 'accepted')
          ) AS has_open_request
        FROM stores_of_request,
          partner_request_room(sender, ${postId}, ${quota || noQuota}::int, ${quotaOfPost}::int) room
      ), created AS (
        INSERT INTO partner_requests (post_id, sender_store_id, receiver_store_id, message)
        SELECT ${postId}::bigint, sender, receiver, ${message} FROM checked
        WHERE sender_exists AND receiver_user IS NOT NULL AND sender <> receiver AND is_open AND NOT has_open_request
          AND full_until IS NULL
        ON CONFLICT (sender_store_id, post_id) WHERE status IN ('requested', 'accepted') DO NOTHING
        RETURNING *
      ), ${unrequestedSql({ purpose: 'partner_request', kind }, email)}, ${notifySql(recipient)}
      SELECT sender, receiver, sender_exists AS "senderExists", receiver_user IS NOT NULL AS "postExists", is_open AS "isOpen",
        CASE WHEN NOT has_open_request THEN ${secondsUntil(sql`full_until`)} END AS wait, request.*
      FROM checked LEFT JOIN (SELECT ${sentColumns} FROM created r) request ON true`);
    if (row === undefined) throw new Error('a query without FROM returns one row');
    return row;
  }

  return { list, findDetail, create, transition, withdrawOfPost, closeOfStore };
}
