import type { Database } from '../../../infrastructure/database/client.ts';
import type { PartnerRequestStatus } from '../../../infrastructure/database/generated/enums.ts';
import type { StoredKey } from '../../../infrastructure/database/idempotency.ts';
import type { InJson } from '../../../infrastructure/database/json-times.ts';
import { afterId, afterTime, type PageRequest } from '../../../infrastructure/database/keyset.ts';
import { empty, raw, sql } from '../../../infrastructure/database/sql.ts';
import type { MailQueue } from '../../../infrastructure/mail/queue.ts';
import type { PostSummaryRow } from '../../posts/index.ts';
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
  key: StoredKey | undefined;
}

/** The request, or why there is none. */
type Sent =
  | { refusal: null; request: InJson<SentRequestRow>; replayedIn: string | null }
  | { refusal: 'quota_exceeded'; wait: number }
  | { refusal: 'idempotency_key_reused' }
  | { refusal: 'store_required' | 'post_not_found' | 'own_post' | 'post_closed' | 'already_requested' };

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

/** A store without an owner is one whose account was deleted; a suspended one is hidden, also because of a report. */
const storeColumns = {
  name: true,
  suspendedAt: true,
  ownerId: true,
  owner: { select: { email: true, name: true, language: true, isVerified: true, suspendedAt: true } },
} as const;

export type PartnerRequests = ReturnType<typeof createPartnerRequestRepository>;

/** Partner requests. */
export function createPartnerRequestRepository(
  database: Database,
  mailQueue: Pick<MailQueue, 'unrequested'>,
) {
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
   * Sends a request, with its notification and its email, in one statement: the function `send_partner_request`, which see. The
   * caller wakes the relay of the outbox.
   */
  async function send({ userId, postId, message, quota, key }: NewRequest): Promise<Sent> {
    const { perHour, mail } = mailQueue.unrequested('partner_request_received');
    const [row] = await database.query<Sent>(sql`
      SELECT refusal, wait, request, replayed_in AS "replayedIn"
      FROM send_partner_request(${key?.scope ?? null}::text, ${key?.key ?? null}::text, ${key?.hashes ?? []}::text[],
        ${key?.language ?? null}::text, ${userId}::int, ${postId}::bigint, ${message}::text, ${quota}::int,
        ${requestsPerPost}::int, ${mail}, ${perHour}::int, ${maxMailsPerHour}::int)`);
    if (row === undefined) throw new Error('a function returns one row');
    return row;
  }

  /** A request with a status, and both stores, for an email about it. */
  function findForMail(id: number, status: PartnerRequestStatus) {
    return database.prisma.partnerRequest.findFirst({
      where: { id, status },
      select: {
        id: true,
        message: true,
        post: { select: { title: true, isVisible: true } },
        senderStore: { select: storeColumns },
        receiverStore: { select: storeColumns },
      },
    });
  }

  return { list, findDetail, findForMail, send, transition, withdrawOfPost, closeOfStore };
}
