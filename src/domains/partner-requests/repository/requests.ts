import type { Database, Tx } from '../../../infrastructure/database/client.ts';
import {
  lockQuotaSql,
  ofLastDay,
  quotaFullUntil,
  secondsUntilRoom,
} from '../../../infrastructure/database/daily-quota.ts';
import type { Store } from '../../../infrastructure/database/generated/client.ts';
import type { PartnerRequestStatus } from '../../../infrastructure/database/generated/enums.ts';
import { afterId, afterTime, type PageRequest } from '../../../infrastructure/database/keyset.ts';
import { empty, raw, type Sql, sql } from '../../../infrastructure/database/sql.ts';
import { isOpenStore, type StoreSummary, storeSummarySelect, toStoreSummary } from '../../stores/index.ts';
import type { Contact } from '../schemas.ts';
import {
  countOfLastHourSql,
  type ReceivedRequestRow,
  type RequestRow,
  receivedColumns,
  type SentRequestRow,
  sentColumns,
} from './rows.ts';
import { closeOfStore, transition, withdrawOfPost } from './transitions.ts';

/** A request with all that one of its sides sees of it. */
export type RequestDetailRow = RequestRow & {
  senderStore: StoreSummary;
  receiverStore: StoreSummary;
  /** Null when the post was deleted or hidden, or its store is. */
  post: { id: number; title: string; firstImage: string | undefined; createdAt: Date } | null;
  /** Null unless the request is accepted and both stores are open. */
  contact: Contact | null;
};

/** The stores of a new request; null where there is none. */
interface RequestStores {
  sender: number | null;
  receiver: number | null;
  /** Whether the sender's store is neither closed nor suspended. */
  senderExists: boolean;
  /** Null when the receiver's store is closed or suspended. */
  receiverUserId: number | null;
  postExists: boolean;
}

interface RequestFilter extends PageRequest {
  userId: number;
  box: RequestRow['box'];
  /** All without it. */
  status: PartnerRequestStatus | undefined;
}

/** Requests a day of one store for one post; asking, withdrawing and asking again notifies the receiver each time. */
const requestsPerPost = 5;

export type PartnerRequests = ReturnType<typeof createPartnerRequestRepository>;

/** Partner requests. */
export function createPartnerRequestRepository(database: Database) {
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
    const request = await database.prisma.partnerRequest.findFirst({
      where: { id, OR: [{ senderStore: { ownerId: userId } }, { receiverStore: { ownerId: userId } }] },
      include: {
        post: { select: { title: true, images: true, createdAt: true, isVisible: true } },
        senderStore: { select: sideSelect },
        receiverStore: { select: sideSelect },
      },
    });
    if (request === null) return undefined;
    const { postId, post, senderStore, receiverStore, status, message } = request;
    const { title, images, createdAt, isVisible } = post;
    const isSender = senderStore.ownerId === userId;
    const other = isSender ? receiverStore : senderStore;
    const isContactShown = status === 'accepted' && isOpen(senderStore) && isOpen(receiverStore);
    return {
      box: isSender ? 'sent' : 'received',
      id,
      postId,
      postTitle: title,
      receiverStoreId: receiverStore.id,
      receiverStoreName: receiverStore.name,
      status,
      message,
      createdAt: request.createdAt,
      updatedAt: request.updatedAt,
      senderStore: toStoreSummary(senderStore),
      receiverStore: toStoreSummary(receiverStore),
      post:
        isVisible && isOpen(receiverStore) ? { id: postId, title, firstImage: images[0], createdAt } : null,
      contact: isContactShown && other.owner ? { ...other.owner, phone_number: other.phoneNumber } : null,
    };
  }

  /**
   * Takes the quota lock of the sender, then locks both stores of a new request and its post against being closed, suspended or
   * deleted until the transaction ends: stores before posts and in id order, to avoid deadlocks.
   */
  async function lockStoresAndPost(tx: Tx, userId: number, postId: number): Promise<RequestStores> {
    // The store of a post never changes. Each `FOR SHARE` waits for what comes before it, as it needs its rows.
    const [stores] = await tx.query<RequestStores>(sql`
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
        SELECT id FROM posts
        WHERE id = ${postId} AND is_visible AND (SELECT count(*) FROM open_stores) > 0 FOR SHARE
      )
      SELECT sender, receiver,
        EXISTS (SELECT FROM open_stores WHERE id = sender) AS "senderExists",
        (SELECT owner_id FROM open_stores WHERE id = receiver) AS "receiverUserId",
        EXISTS (SELECT FROM post) AS "postExists"
      FROM stores_of_request`);
    if (stores === undefined) throw new Error('a query without FROM returns one row');
    return stores;
  }

  /**
   * Creates a request. The quota is counted under the lock of {@link lockStoresAndPost}.
   *
   * @param quota requests a day of a store; 0: neither this quota nor that of a post
   * @returns the request, and how many the store has sent for the post within an hour with it; undefined when the store has a
   *   pending or accepted request for the post, or its quota is used up
   */
  async function create(
    tx: Tx,
    request: { postId: number; sender: number; receiver: number; message: string },
    quota: number,
  ): Promise<(SentRequestRow & { sentWithinHour: number }) | undefined> {
    const { postId, sender, receiver, message } = request;
    // What `ON CONFLICT` rejects has already taken an id.
    const [row] = await tx.query<SentRequestRow & { sentWithinHour: number }>(sql`
      WITH created AS (
        INSERT INTO partner_requests (post_id, sender_store_id, receiver_store_id, message)
        SELECT ${postId}::bigint, ${sender}::int, ${receiver}::int, ${message}
        WHERE ${quotaFullUntilSql(sender, postId, quota)} IS NULL AND NOT ${hasOpenRequest(sender, postId)}
        ON CONFLICT (sender_store_id, post_id) WHERE status IN ('requested', 'accepted') DO NOTHING
        RETURNING *
      )
      SELECT ${sentColumns}, 1 + ${countOfLastHourSql} AS "sentWithinHour" FROM created r`);
    return row;
  }

  /** How long a store has to wait for its next request for a post. @returns undefined when it has a pending or accepted one */
  function findWait(tx: Tx, sender: number, postId: number, quota: number) {
    const fullUntil = quotaFullUntilSql(sender, postId, quota);
    return secondsUntilRoom(tx, sql`CASE WHEN NOT ${hasOpenRequest(sender, postId)} THEN ${fullUntil} END`);
  }

  return { list, findDetail, lockStoresAndPost, create, findWait, transition, withdrawOfPost, closeOfStore };
}

/** SQL of the time at which a store may send a request for a post again; null while it may. Requests of any status count. */
function quotaFullUntilSql(sender: number, postId: number, quota: number): Sql {
  const sent = sql`SELECT created_at FROM partner_requests WHERE sender_store_id = ${sender} AND ${ofLastDay}`;
  return sql`greatest(
    ${quotaFullUntil(sent, quota)},
    ${quotaFullUntil(sql`${sent} AND post_id = ${postId}`, quota === 0 ? 0 : requestsPerPost)})`;
}

const hasOpenRequest = (sender: number, postId: number) => sql`EXISTS (
  SELECT FROM partner_requests
  WHERE sender_store_id = ${sender} AND post_id = ${postId} AND status IN ('requested', 'accepted'))`;

const sideSelect = {
  ...storeSummarySelect,
  ownerId: true,
  owner: { select: { name: true, email: true } },
  phoneNumber: true,
  closedAt: true,
  suspendedAt: true,
} as const;

const isOpen = ({ closedAt, suspendedAt }: Pick<Store, 'closedAt' | 'suspendedAt'>) =>
  closedAt === null && suspendedAt === null;
