import type { Database, Queryable } from '../database/client.ts';
import { lockQuotaSql, secondsUntil } from '../database/daily-quota.ts';
import type { PartnerRequestStatus } from '../database/generated/enums.ts';
import { afterId, afterTime, type PageRequest, unseen } from '../database/keyset.ts';
import { empty, raw, type Sql, sql } from '../database/sql.ts';
import { isOpenStore } from '../stores/sql.ts';
import { closeOfStore, withdrawOfPost } from './automatic-transitions.ts';
import { findPartners } from './partners.ts';
import { findDetail } from './request-details.ts';
import { countOfLastHourSql, requestQuotaFullUntil } from './request-quota.ts';
import type { ReceivedRequestRow, SentRequestRow } from './rows.ts';
import { receivedColumns, sentColumns } from './sql.ts';
import { isParticipant, transition } from './transitions.ts';

/** The stores of a new request; null where there is none. */
interface Participants {
  sender: number | null;
  receiver: number | null;
  /** Whether the sender's store is neither closed nor suspended. */
  senderExists: boolean;
  /** Null when the receiver's store is closed or suspended. */
  receiverUserId: number | null;
  postExists: boolean;
}

/** Which requests of a user to list. */
interface RequestFilter extends PageRequest {
  userId: number;
  /** All without it. */
  status: PartnerRequestStatus | undefined;
}

export type PartnerRequests = ReturnType<typeof createPartnerRequestRepository>;

/** Partner requests and their states. */
export function createPartnerRequestRepository(database: Database) {
  /** Requests that the user's store sent, newest first; none without a store. */
  async function findSent(filter: RequestFilter): Promise<SentRequestRow[]> {
    return database.query<SentRequestRow>(sql`
      SELECT ${sentColumns}
      FROM (${pageSql('sender', filter)}) r
      ORDER BY r.created_at DESC, r.id DESC`);
  }

  /** Requests that the user's store received, newest first; none without a store. */
  async function findReceived(filter: RequestFilter): Promise<ReceivedRequestRow[]> {
    return database.query<ReceivedRequestRow>(sql`
      SELECT ${receivedColumns}
      FROM (${pageSql('receiver', filter)}) r
      ORDER BY r.created_at DESC, r.id DESC`);
  }

  /**
   * Takes the quota lock of the sender, then locks both stores of a new request and its post against being closed, suspended or
   * deleted until the transaction ends: stores before posts and in id order, to avoid deadlocks.
   *
   * @returns the two stores, null where there is none; whether sender and post exist for readers; and the user of the
   *   receiver, null when its store does not
   */
  async function lockParticipants(tx: Queryable, userId: number, postId: number): Promise<Participants> {
    // The store of a post never changes. Each `FOR SHARE` waits for what comes before it, as it needs its rows.
    const [participants] = await tx.query<Participants>(sql`
      WITH stores_of_request AS MATERIALIZED (
        SELECT sender, receiver, ${lockQuotaSql(sql`sender`)} AS quota_lock
        FROM (
          SELECT (SELECT id FROM stores WHERE owner_id = ${userId}) AS sender,
            (SELECT store_id FROM posts WHERE id = ${postId}) AS receiver
        ) ids
      ), open_stores AS MATERIALIZED (
        SELECT s.id, s.owner_id FROM stores_of_request JOIN stores s ON s.id = ANY (ARRAY[sender, receiver])
        WHERE ${isOpenStore('s')} AND s.owner_id IS NOT NULL
        ORDER BY s.id FOR SHARE OF s
      ), post AS MATERIALIZED (
        SELECT id FROM posts
        WHERE id = ${postId} AND deleted_at IS NULL AND (SELECT count(*) FROM open_stores) > 0 FOR SHARE
      )
      SELECT sender, receiver,
        EXISTS (SELECT FROM open_stores WHERE id = sender) AS "senderExists",
        (SELECT owner_id FROM open_stores WHERE id = receiver) AS "receiverUserId",
        EXISTS (SELECT FROM post) AS "postExists"
      FROM stores_of_request`);
    if (participants === undefined) throw new Error('a query without FROM returns one row');
    return participants;
  }

  /**
   * Creates a request. The quota is counted under the lock of {@link lockParticipants}.
   *
   * @param quota as in {@link requestQuotaFullUntil}
   * @returns the request, and how many the store has sent for the post within an hour with it; undefined when the store has a pending or accepted request for the post, or its quota is used up
   */
  async function create(
    tx: Queryable,
    request: { postId: number; sender: number; receiver: number; message: string },
    quota: number,
  ): Promise<(SentRequestRow & { sent_within_hour: number }) | undefined> {
    const { postId, sender, receiver, message } = request;
    const [row] = await tx.query<SentRequestRow & { sent_within_hour: number }>(sql`
      WITH created AS (
        INSERT INTO partner_requests (post_id, sender_store_id, receiver_store_id, message)
        SELECT ${postId}::int, ${sender}::int, ${receiver}::int, ${message}
        WHERE ${requestQuotaFullUntil(sender, postId, quota)} IS NULL
        ON CONFLICT (sender_store_id, post_id) WHERE status IN ('requested', 'accepted') DO NOTHING
        RETURNING *
      )
      SELECT ${sentColumns}, 1 + ${countOfLastHourSql(sql`r.sender_store_id`, sql`r.post_id`)} AS sent_within_hour
      FROM created r`);
    return row;
  }

  /** How long a store has to wait for its next request for a post. @returns undefined when it has a pending or accepted one */
  async function secondsUntilRoom(tx: Queryable, sender: number, postId: number, quota: number) {
    const [wait] = await tx.query<{ seconds: number }>(sql`
      SELECT ${secondsUntil(sql`full_until`)} AS seconds
      FROM (SELECT ${requestQuotaFullUntil(sender, postId, quota)} AS full_until) quota
      WHERE full_until IS NOT NULL AND NOT EXISTS (
        SELECT FROM partner_requests
        WHERE sender_store_id = ${sender} AND post_id = ${postId} AND status IN ('requested', 'accepted'))`);
    return wait?.seconds;
  }

  return {
    findSent,
    findReceived,
    lockParticipants,
    create,
    secondsUntilRoom,
    transition,
    isParticipant,
    findDetail: (id: number, userId: number) => findDetail(database, id, userId),
    findPartners: (filter: PageRequest & { userId: number }) => findPartners(database, filter),
    withdrawOfPost,
    closeOfStore,
  };
}

/**
 * One page of the requests of a user's store. With and without a status it is another text, as each is read through an index of
 * its own that is in the order of the list. What belongs to a row is selected one by one, because a join may read all stores.
 */
function pageSql(side: 'sender' | 'receiver', { userId, status, after, limit }: RequestFilter): Sql {
  const ofStatus = status === undefined ? empty : sql`AND status = ${status}::partner_request_status`;
  const ownStore = raw(side === 'sender' ? 'sender_store_id' : 'receiver_store_id');
  return sql`
    SELECT * FROM partner_requests
    WHERE ${ownStore} = (SELECT id FROM stores WHERE owner_id = ${userId}) ${ofStatus}
      AND (created_at, id) < (${afterTime(after)}, ${afterId(after)})
    ORDER BY created_at DESC, id DESC LIMIT ${unseen(limit)}`;
}
