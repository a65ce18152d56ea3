import type { Tx } from '../../../infrastructure/database/client.ts';
import type { PartnerRequest as Model } from '../../../infrastructure/database/generated/client.ts';
import type { PartnerRequestStatus } from '../../../infrastructure/database/generated/enums.ts';
import {
  afterId,
  afterTime,
  boundedPage,
  type PageEnd,
  type PageRequest,
} from '../../../infrastructure/database/keyset.ts';
import { empty, raw, type Sql, sql } from '../../../infrastructure/database/sql.ts';
import type { PostSummaryRow } from '../../posts/index.ts';
import { isOpenStore, type StoreSummary, storeSummarySql } from '../../stores/index.ts';
import type { Contact, PartnerRequest, ReceivedPartnerRequest } from '../schemas.ts';

/** What the API shows of a request, its state and its times as the database has them. */
type RowOf<Shown> = Omit<Shown, 'status' | 'created_at' | 'updated_at'> &
  Pick<Model, 'status' | 'createdAt' | 'updatedAt'>;

/** A request as its sender sees it. */
export type SentRequestRow = RowOf<PartnerRequest>;

type ReceivedRequestRow = RowOf<ReceivedPartnerRequest>;

/** A request as one of its sides sees it; `box` tells which. */
export type RequestRow = SentRequestRow | ReceivedRequestRow;

/** What both sides see of the request `r`. What belongs to other tables is selected by id, because a join may read all rows. */
export const requestColumns = sql`
  r.id, r.post_id, (SELECT title FROM posts WHERE id = r.post_id) AS post_title,
  r.status, r.message, r.created_at AS "createdAt", r.updated_at AS "updatedAt"`;

export const receiverColumns = sql`
  r.receiver_store_id, (SELECT name FROM stores WHERE id = r.receiver_store_id) AS receiver_store_name`;

export const senderColumn = sql`
  (SELECT ${storeSummarySql} FROM stores s WHERE s.id = r.sender_store_id) AS sender_store`;

export const sentColumns = sql`'sent' AS box, ${requestColumns}, ${receiverColumns}`;

const receivedColumns = sql`'received' AS box, ${requestColumns}, ${senderColumn}`;

/** How to reach the other store `o`, with its owner `u`. */
const contactSql = sql`json_build_object('name', u.name, 'email', u.email, 'phone_number', o.phone_number)`;

/** A request with all that one of its sides sees of it. */
export type RequestDetailRow = RequestRow & {
  sender_store: StoreSummary;
  receiver_store: StoreSummary;
  /** Null when the post was deleted or hidden, or its store is. */
  post: PostSummaryRow | null;
  /** Null unless the request is accepted and both stores are open. */
  contact: Contact | null;
};

/** The newest accepted request with another store. */
export interface PartnerRow {
  id: number;
  /** When it was accepted, by which the list is ordered. */
  createdAt: Date;
  store: StoreSummary;
  contact: Contact;
}

/** Accepted requests that one page may examine. Stores that have many of them with each other are rare. */
export const partnerBudget = 200;

interface RequestFilter extends PageRequest {
  userId: number;
  box: RequestRow['box'];
  status: PartnerRequestStatus | undefined;
}

/** The states that a request may have reached before an email about one of them is sent. */
const stillTrue: Partial<Record<PartnerRequestStatus, PartnerRequestStatus[]>> = {
  requested: ['requested', 'accepted', 'declined'],
  accepted: ['accepted', 'ended'],
};

/** Newest first; none without a store. Each box, with and without a status, is another text, read through an index of its own. */
export function list(tx: Tx, { userId, box, status, after, limit }: RequestFilter): Promise<RequestRow[]> {
  const ownStore = raw(box === 'sent' ? 'sender_store_id' : 'receiver_store_id');
  const ofStatus = status === undefined ? empty : sql`AND status = ${status}::partner_request_status`;
  const page = sql`(
    SELECT * FROM partner_requests
    WHERE ${ownStore} = (SELECT id FROM stores WHERE owner_id = ${userId}) ${ofStatus}
      AND (created_at, id) < (${afterTime(after)}, ${afterId(after)})
    ORDER BY created_at DESC, id DESC LIMIT ${limit}
  ) r ORDER BY r.created_at DESC, r.id DESC`;
  return box === 'sent'
    ? tx.query<SentRequestRow>(sql`/* partner-requests.listSent */
        SELECT ${sentColumns} FROM ${page}`)
    : tx.query<ReceivedRequestRow>(sql`/* partner-requests.listReceived */
        SELECT ${receivedColumns} FROM ${page}`);
}

/** A request of a user's store. @returns undefined for everyone but its two sides */
export async function findDetail(tx: Tx, id: number, userId: number): Promise<RequestDetailRow | undefined> {
  const [request] = await tx.query<RequestDetailRow>(sql`/* partner-requests.findDetail */
    SELECT CASE WHEN o.id = s.id THEN 'received' ELSE 'sent' END AS box, ${requestColumns}, ${receiverColumns},
      ${senderColumn}, (SELECT ${storeSummarySql} FROM stores s WHERE s.id = r.receiver_store_id) AS receiver_store,
      CASE WHEN p.is_visible AND ${isOpenStore('v')} THEN json_build_object(
        'id', p.id, 'title', p.title, 'firstImage', p.images[1], 'createdAt', p.created_at) END AS post,
      CASE WHEN r.status = 'accepted' AND ${isOpenStore('s')} AND ${isOpenStore('v')} THEN (
        SELECT ${contactSql} FROM users u WHERE u.id = o.owner_id) END AS contact
    FROM partner_requests r JOIN posts p ON p.id = r.post_id
    JOIN stores s ON s.id = r.sender_store_id JOIN stores v ON v.id = r.receiver_store_id
    JOIN stores o ON o.id = CASE WHEN s.owner_id = ${userId} THEN v.id ELSE s.id END
    WHERE r.id = ${id} AND (s.owner_id = ${userId} OR v.owner_id = ${userId})`);
  return request;
}

/**
 * Partners of a user's store, by the time of the newest accepted request, which is its `updated_at`. A page examines a bounded
 * number of requests, from one index for sent and one for received ones, and looks up of each whether it is the newest one.
 */
export async function listPartners(tx: Tx, wanted: PageRequest & { userId: number }, budget = partnerBudget) {
  const { userId, after, limit } = wanted;
  const own = sql`(SELECT id FROM own)`;
  const [sender, receiver] = [raw('sender_store_id'), raw('receiver_store_id')];
  const accepted = (ownStore: Sql, otherStore: Sql) => sql`
    SELECT id, updated_at, ${otherStore} AS store_id FROM partner_requests
    WHERE ${ownStore} = ${own} AND status = 'accepted' AND (updated_at, id) < (${afterTime(after)}, ${afterId(after)})
    ORDER BY updated_at DESC, id DESC LIMIT ${budget}`;
  const examined = sql`
    SELECT * FROM ((${accepted(sender, receiver)}) UNION ALL (${accepted(receiver, sender)})) accepted
    ORDER BY updated_at DESC, id DESC LIMIT ${budget}`;
  const ofPair = (from: Sql, to: Sql) => sql`
    SELECT id, updated_at FROM partner_requests
    WHERE sender_store_id = ${from} AND receiver_store_id = ${to} AND status = 'accepted'
    ORDER BY updated_at DESC, id DESC LIMIT 1`;
  const other = raw('e.store_id');
  const rows = await tx.query<PartnerRow & PageEnd>(sql`
    /* partner-requests.listPartners */ WITH own AS MATERIALIZED (
      SELECT s.id FROM stores s WHERE s.owner_id = ${userId} AND ${isOpenStore('s')}
    ), page AS MATERIALIZED (
      SELECT e.id, e.updated_at, e.store_id FROM (${examined}) e
      WHERE (SELECT ${isOpenStore('s')} FROM stores s WHERE s.id = e.store_id)
        AND e.id = (
          SELECT id FROM ((${ofPair(own, other)}) UNION ALL (${ofPair(other, own)})) pair
          ORDER BY updated_at DESC, id DESC LIMIT 1)
      ORDER BY e.updated_at DESC, e.id DESC LIMIT ${limit}
    ), stopped AS (
      SELECT (extract(epoch FROM e.updated_at) * 1000)::bigint AS "stoppedTime", e.id AS "stoppedId" FROM (${examined}) e
      WHERE (SELECT count(*) FROM page) < ${limit}::int
      ORDER BY e.updated_at DESC, e.id DESC OFFSET ${budget - 1}::int LIMIT 1
    )
    SELECT found.*, stopped.* FROM (SELECT) one_row
    LEFT JOIN stopped ON true
    LEFT JOIN (
      SELECT page.id, page.updated_at AS "createdAt", ${contactSql} AS contact,
        (SELECT ${storeSummarySql} FROM stores s WHERE s.id = page.store_id) AS store
      FROM page
      JOIN stores o ON o.id = page.store_id
      JOIN users u ON u.id = o.owner_id
    ) found ON true
    ORDER BY found."createdAt" DESC, found.id DESC`);
  return boundedPage<PartnerRow>(rows);
}

/** A request and its stores, for an email about a state. A store of a deleted account has no owner; one that is hidden is suspended. */
export function findForMail({ prisma }: Tx, id: number, status: PartnerRequestStatus) {
  const owner = { email: true, name: true, language: true, isVerified: true, suspendedAt: true };
  const store = {
    select: { name: true, suspendedAt: true, ownerId: true, owner: { select: owner } },
  } as const;
  const post = { select: { title: true, isVisible: true } };
  const select = { id: true, message: true, post, senderStore: store, receiverStore: store } as const;
  return prisma.partnerRequest.findFirst({
    where: { id, status: { in: stillTrue[status] ?? [status] } },
    select,
  });
}
