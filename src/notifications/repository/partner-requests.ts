import type { Connection, Database } from '../../database/client.ts';
import { Prisma } from '../../database/generated/client.ts';
import type { StoreSummary } from '../../stores/schemas.ts';
import { storeSummarySql } from '../../stores/summary-sql.ts';
import {
  type PartnerRequest,
  type PartnerRequestState,
  partnerRequestStates,
  partnerRequestStatuses,
  type ReceivedPartnerRequest,
} from '../schemas.ts';

interface RequestRow {
  id: number;
  post_id: number;
  status: PartnerRequestState;
  message: string;
  created_at: Date;
}

export interface SentRow extends RequestRow {
  receiver_store_name: string;
}

export interface ReceivedRow extends RequestRow {
  post_title: string;
  sender_store: StoreSummary;
}

/** A request with who is on each side of it; null where the account is gone. */
export interface RequestOfTwo extends SentRow, ReceivedRow {
  sender_user_id: number | null;
  receiver_user_id: number | null;
}

/** A row as the API shows it to the sender. */
export function toPartnerRequest(row: SentRow): PartnerRequest {
  return {
    id: row.id,
    post_id: row.post_id,
    receiver_store_name: row.receiver_store_name,
    status: partnerRequestStatuses[row.status],
    message: row.message,
    created_at: row.created_at.toISOString(),
  };
}

/** A row as the API shows it to the receiver. */
export function toReceivedPartnerRequest(row: ReceivedRow): ReceivedPartnerRequest {
  return {
    id: row.id,
    post_id: row.post_id,
    post_title: row.post_title,
    sender_store: row.sender_store,
    status: partnerRequestStatuses[row.status],
    message: row.message,
    created_at: row.created_at.toISOString(),
  };
}

/** One page of the requests of a user's store, walking an index that begins with the store and goes on in their order. */
const page = (storeId: 'sender_store_id' | 'receiver_store_id') => `
  SELECT * FROM partner_requests
  WHERE ${storeId} = (SELECT id FROM stores WHERE owner_id = $1)
    AND status = ANY ($2::partner_request_status[]) AND (created_at, id) < ($3::timestamptz, $4::int)
  ORDER BY created_at DESC, id DESC
  LIMIT $5`;

const listSent = `
  SELECT r.id, r.post_id, r.status, r.message, r.created_at, v.name AS receiver_store_name
  FROM (${page('sender_store_id')}) r
  JOIN stores v ON v.id = r.receiver_store_id
  ORDER BY r.created_at DESC, r.id DESC`;

const listReceived = `
  SELECT r.id, r.post_id, r.status, r.message, r.created_at, p.title AS post_title, ${storeSummarySql} AS sender_store
  FROM (${page('receiver_store_id')}) r
  JOIN posts p ON p.id = r.post_id
  JOIN stores s ON s.id = r.sender_store_id
  ORDER BY r.created_at DESC, r.id DESC`;

/** Which requests of a user to list: those after a position, where there is one. */
export interface RequestFilter {
  userId: number;
  status: PartnerRequest['status'] | undefined;
  after: { time: number; id: string } | undefined;
  limit: number;
}

export type PartnerRequests = ReturnType<typeof createPartnerRequestRepository>;

/** Partner requests and their states; a transition is one conditional update. */
export function createPartnerRequestRepository(database: Database) {
  /** Requests that the user's store sent, newest first; none without a store. */
  async function findSent(filter: RequestFilter): Promise<SentRow[]> {
    return (await database.query<SentRow>('list_sent_requests', listSent, valuesOf(filter))).rows;
  }

  /** Requests that the user's store received, newest first; none without a store. */
  async function findReceived(filter: RequestFilter): Promise<ReceivedRow[]> {
    return (await database.query<ReceivedRow>('list_received_requests', listReceived, valuesOf(filter))).rows;
  }

  /**
   * The stores on both sides of a request to be; they never change. Either is null where there is none, but they may be
   * closed already: {@link holdOpen} tells.
   */
  async function findSides(connection: Connection, userId: number, postId: number) {
    const [sides] = await connection.$queryRaw<{ sender: number | null; receiver: number | null }[]>`
      SELECT (SELECT id FROM stores WHERE owner_id = ${userId}) AS sender,
        (SELECT store_id FROM posts WHERE id = ${postId}) AS receiver`;
    return { sender: sides?.sender ?? null, receiver: sides?.receiver ?? null };
  }

  /**
   * Keeps stores from being closed and a post from being deleted until the transaction ends. Who closes or deletes first is
   * waited for. Stores come before posts and small ids before large ones, as for everybody, so that nobody waits in a circle.
   *
   * @returns the stores that are open, and whether the post is there
   */
  async function holdOpen(transaction: Connection, storeIds: number[], postId: number) {
    const stores = await transaction.$queryRaw<{ id: number; owner_id: number }[]>`
      SELECT id, owner_id FROM stores
      WHERE id = ANY (${storeIds}::int[]) AND closed_at IS NULL AND owner_id IS NOT NULL
      ORDER BY id FOR SHARE`;
    const posts = await transaction.$queryRaw<unknown[]>`
      SELECT FROM posts WHERE id = ${postId} AND deleted_at IS NULL FOR SHARE`;
    return { stores, hasPost: posts.length > 0 };
  }

  /** @returns undefined when the store has a pending or accepted request for the post; of two at once, one gets it */
  async function create(
    transaction: Connection,
    {
      postId,
      sender,
      receiver,
      message,
    }: { postId: number; sender: number; receiver: number; message: string },
  ): Promise<SentRow | undefined> {
    const [row] = await transaction.$queryRaw<SentRow[]>`
      WITH created AS (
        INSERT INTO partner_requests (post_id, sender_store_id, receiver_store_id, message)
        VALUES (${postId}, ${sender}, ${receiver}, ${message})
        ON CONFLICT (sender_store_id, post_id) WHERE status IN ('requested', 'accepted') DO NOTHING
        RETURNING *
      )
      SELECT r.id, r.post_id, r.status::text, r.message, r.created_at, v.name AS receiver_store_name
      FROM created r JOIN stores v ON v.id = r.receiver_store_id`;
    return row;
  }

  /** How many requests a store has sent for a post within an hour, whatever became of them. */
  async function countOfLastHour(
    transaction: Connection,
    { sender, postId }: { sender: number; postId: number },
  ): Promise<number> {
    const [row] = await transaction.$queryRaw<{ count: number }[]>`
      SELECT count(*)::int AS count FROM partner_requests
      WHERE sender_store_id = ${sender} AND post_id = ${postId} AND created_at > now() - interval '1 hour'`;
    return row?.count ?? 0;
  }

  /**
   * Answers or withdraws a pending request. One conditional update, so that of parallel ones a single one succeeds.
   *
   * @param side the side of the request that the user must be on
   * @returns undefined when the user has no such request, or it is not pending any more
   */
  async function change(
    transaction: Connection,
    {
      id,
      userId,
      side,
      status,
    }: { id: number; userId: number; side: 'sender' | 'receiver'; status: PartnerRequestState },
  ): Promise<RequestOfTwo | undefined> {
    const [row] = await transaction.$queryRaw<RequestOfTwo[]>`
      WITH changed AS (
        UPDATE partner_requests r SET status = ${status}::partner_request_status, updated_at = now()
        FROM stores own
        WHERE r.id = ${id} AND r.status = 'requested' AND own.id = ${storeOn(side)} AND own.owner_id = ${userId}
        RETURNING r.*
      )
      SELECT r.id, r.post_id, r.status::text, r.message, r.created_at, p.title AS post_title,
        v.name AS receiver_store_name, ${Prisma.raw(storeSummarySql)} AS sender_store,
        s.owner_id AS sender_user_id, v.owner_id AS receiver_user_id
      FROM changed r
      JOIN posts p ON p.id = r.post_id
      JOIN stores s ON s.id = r.sender_store_id
      JOIN stores v ON v.id = r.receiver_store_id`;
    return row;
  }

  /** Whether the user is on that side of a request, in any state. */
  async function isOn(
    connection: Connection,
    { id, userId, side }: { id: number; userId: number; side: 'sender' | 'receiver' },
  ): Promise<boolean> {
    const rows = await connection.$queryRaw<unknown[]>`
      SELECT FROM partner_requests r JOIN stores own ON own.id = ${storeOn(side)}
      WHERE r.id = ${id} AND own.owner_id = ${userId}`;
    return rows.length > 0;
  }

  return { findSent, findReceived, findSides, holdOpen, create, countOfLastHour, change, isOn };
}

function storeOn(side: 'sender' | 'receiver') {
  return Prisma.raw(side === 'sender' ? 'r.sender_store_id' : 'r.receiver_store_id');
}

function valuesOf({ userId, status, after, limit }: RequestFilter): unknown[] {
  const states = partnerRequestStates.filter(
    (state) => status === undefined || partnerRequestStatuses[state] === status,
  );
  const time = after === undefined ? 'infinity' : new Date(after.time).toISOString();
  return [userId, states, time, after === undefined ? 0 : Number(after.id), limit];
}
