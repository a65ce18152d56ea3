import type { Database, Tx } from '../../../infrastructure/database/client.ts';
import {
  lockQuotaSql,
  ofLastDay,
  quotaFullUntil,
  secondsUntil,
} from '../../../infrastructure/database/daily-quota.ts';
import type { PartnerRequest, Store } from '../../../infrastructure/database/generated/client.ts';
import type { PartnerRequestStatus } from '../../../infrastructure/database/generated/enums.ts';
import { afterId, afterTime, type PageRequest } from '../../../infrastructure/database/keyset.ts';
import { empty, join, raw, type Sql, sql } from '../../../infrastructure/database/sql.ts';
import { isOpenStore, type StoreSummary, storeSummarySql } from '../../stores/index.ts';
import type { Contact } from '../schemas.ts';

interface RequestRow extends Pick<PartnerRequest, 'status' | 'message' | 'createdAt' | 'updatedAt'> {
  id: number;
  postId: number;
  postTitle: string;
}

/** A request as its sender sees it. */
export interface SentRequestRow extends RequestRow {
  receiverStoreId: number;
  receiverStoreName: string;
}

/** A request as its receiver sees it. */
export interface ReceivedRequestRow extends RequestRow {
  senderStore: StoreSummary;
}

/** A request with all that one of its sides sees of it. */
export interface RequestDetailRow extends SentRequestRow, ReceivedRequestRow {
  /** On which side the user is. */
  box: 'sent' | 'received';
  receiverStore: StoreSummary;
  /** Null when the post was deleted or is hidden with its store. */
  post: { firstImage: string | undefined; createdAt: Date } | null;
  /** Null unless the request is accepted and both stores are open. */
  contact: Contact | null;
}

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
  /** All without it. */
  status: PartnerRequestStatus | undefined;
}

/** Requests a day of one store for one post; asking, withdrawing and asking again notifies the receiver each time. */
const requestsPerPost = 5;

/** What both sides see of the request `r`. What belongs to other tables is selected by id, because a join may read all rows. */
const requestColumns = sql`
  r.id, r.post_id AS "postId", (SELECT title FROM posts WHERE id = r.post_id) AS "postTitle",
  r.status, r.message, r.created_at AS "createdAt", r.updated_at AS "updatedAt"`;

const sentColumns = sql`
  ${requestColumns}, r.receiver_store_id AS "receiverStoreId",
  (SELECT name FROM stores WHERE id = r.receiver_store_id) AS "receiverStoreName"`;

const senderStoreColumn = sql`
  (SELECT ${storeSummarySql} FROM stores s WHERE s.id = r.sender_store_id) AS "senderStore"`;

/** How many requests a store has sent for a post within an hour. A statement that inserts one does not count it. */
const countOfLastHourSql = sql`(
  SELECT count(*)::int FROM partner_requests
  WHERE sender_store_id = r.sender_store_id AND post_id = r.post_id AND created_at > now() - interval '1 hour')`;

/** A request with the owners of both stores; null where the account is gone. */
export interface PartnerRequestWithOwners extends SentRequestRow, ReceivedRequestRow {
  senderUserId: number | null;
  receiverUserId: number | null;
  /** Requests that the sender has sent for the post within an hour, in whatever state they are now. */
  sentWithinHour: number;
}

/** A request, and the user who must be on a side of it. */
interface RequestSide {
  id: number;
  userId: number;
  side: 'sender' | 'receiver' | 'either';
}

/** A request that changed because a post or an account was deleted, and the user on the other side. */
export interface ClosedRequest {
  requestId: number;
  userId: number;
  status: Extract<PartnerRequestStatus, 'withdrawn' | 'ended'>;
}

const pending = raw(`status = 'requested'`);
const accepted = raw(`status = 'accepted'`);
const open = raw(`status IN ('requested', 'accepted')`);

export type PartnerRequests = ReturnType<typeof createPartnerRequestRepository>;

/** Partner requests, and changes of their state by their sides and by deletions. */
export function createPartnerRequestRepository(database: Database) {
  /** Requests that the user's store sent, newest first; none without a store. */
  async function findSent(filter: RequestFilter): Promise<SentRequestRow[]> {
    return database.query<SentRequestRow>(sql`
      SELECT ${sentColumns} FROM (${pageSql('sender', filter)}) r ORDER BY r.created_at DESC, r.id DESC`);
  }

  /** Requests that the user's store received, newest first; none without a store. */
  async function findReceived(filter: RequestFilter): Promise<ReceivedRequestRow[]> {
    return database.query<ReceivedRequestRow>(sql`
      SELECT ${requestColumns}, ${senderStoreColumn}
      FROM (${pageSql('receiver', filter)}) r ORDER BY r.created_at DESC, r.id DESC`);
  }

  /** A request of a user's store. @returns undefined for everyone but its two sides */
  async function findDetail(id: number, userId: number): Promise<RequestDetailRow | undefined> {
    const request = await database.prisma.partnerRequest.findFirst({
      where: { id, OR: [{ senderStore: { ownerId: userId } }, { receiverStore: { ownerId: userId } }] },
      include: {
        post: { select: { title: true, images: true, createdAt: true, deletedAt: true } },
        senderStore: { include: storeRelations },
        receiverStore: { include: storeRelations },
      },
    });
    if (request === null) return undefined;
    const { post, senderStore, receiverStore, ...row } = request;
    const isSender = senderStore.ownerId === userId;
    const [own, other] = isSender ? [senderStore, receiverStore] : [receiverStore, senderStore];
    const isContactShown = row.status === 'accepted' && own.suspendedAt === null && isOpen(other);
    return {
      ...row,
      box: isSender ? 'sent' : 'received',
      postTitle: post.title,
      receiverStoreName: receiverStore.name,
      senderStore: summaryOf(senderStore),
      receiverStore: summaryOf(receiverStore),
      post:
        post.deletedAt === null && isOpen(receiverStore)
          ? { firstImage: post.images[0], createdAt: post.createdAt }
          : null,
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
        WHERE id = ${postId} AND deleted_at IS NULL AND (SELECT count(*) FROM open_stores) > 0 FOR SHARE
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
  async function secondsUntilRoom(tx: Tx, sender: number, postId: number, quota: number) {
    const [wait] = await tx.query<{ seconds: number }>(sql`
      SELECT ${secondsUntil(sql`full_until`)} AS seconds
      FROM (SELECT ${quotaFullUntilSql(sender, postId, quota)} AS full_until) quota
      WHERE full_until IS NOT NULL AND NOT ${hasOpenRequest(sender, postId)}`);
    return wait?.seconds;
  }

  /**
   * Moves a request to another state. One conditional update, so that of concurrent transitions one succeeds.
   *
   * @returns undefined when the user has no such request on that side, it is not in the state `from`, or a store that is hidden
   *   would accept it
   */
  async function transition(
    tx: Tx,
    { id, userId, side }: RequestSide,
    from: PartnerRequestStatus,
    to: PartnerRequestStatus,
  ): Promise<PartnerRequestWithOwners | undefined> {
    const stores = { sender: 'r.sender_store_id', receiver: 'r.receiver_store_id' };
    const ownStores = raw(side === 'either' ? `${stores.sender}, ${stores.receiver}` : stores[side]);
    const [row] = await tx.query<PartnerRequestWithOwners>(sql`
      WITH changed AS (
        UPDATE partner_requests r SET status = ${to}::partner_request_status, updated_at = now()
        FROM stores own
        WHERE r.id = ${id} AND r.status = ${from}::partner_request_status
          AND own.id IN (${ownStores}) AND own.owner_id = ${userId}
          AND (own.suspended_at IS NULL OR ${to} <> 'accepted')
        RETURNING r.*
      )
      SELECT ${sentColumns}, ${senderStoreColumn},
        (SELECT owner_id FROM stores WHERE id = r.sender_store_id) AS "senderUserId",
        (SELECT owner_id FROM stores WHERE id = r.receiver_store_id) AS "receiverUserId",
        ${countOfLastHourSql} AS "sentWithinHour"
      FROM changed r`);
    return row;
  }

  /** Whether the user is on that side of a request, in any state. */
  async function isOnSide({ id, userId, side }: RequestSide): Promise<boolean> {
    const own = { ownerId: userId };
    const sides = {
      sender: { senderStore: own },
      receiver: { receiverStore: own },
      either: { OR: [{ senderStore: own }, { receiverStore: own }] },
    };
    return (await database.prisma.partnerRequest.count({ where: { id, ...sides[side] } })) > 0;
  }

  /** Withdraws the pending requests for a post; accepted ones stay. @returns them with their senders */
  function withdrawOfPost(tx: Tx, postId: number): Promise<ClosedRequest[]> {
    return close(tx, pending, idsWhere(sql`post_id = ${postId} AND ${pending}`), sql`c.sender_store_id`);
  }

  /** Withdraws the pending requests that a store sent or received, and ends the accepted ones. @returns them with the other sides */
  function closeOfStore(tx: Tx, storeId: number): Promise<ClosedRequest[]> {
    return close(
      tx,
      open,
      // Not `OR`, for which the requests of all stores may be read, and not `IN`, for which those of the store in all states are.
      join(
        [sql`sender_store_id = ${storeId}`, sql`receiver_store_id = ${storeId}`].flatMap((ofStore) =>
          [pending, accepted].map((state) => idsWhere(sql`${ofStore} AND ${state}`)),
        ),
        ' UNION ALL ',
      ),
      sql`CASE c.sender_store_id WHEN ${storeId} THEN c.receiver_store_id ELSE c.sender_store_id END`,
    );
  }

  return {
    findSent,
    findReceived,
    findDetail,
    lockStoresAndPost,
    create,
    secondsUntilRoom,
    transition,
    isOnSide,
    withdrawOfPost,
    closeOfStore,
  };
}

/**
 * One page of the requests of a user's store. With and without a status it is another text, as each is read through an index of
 * its own that is in the order of the list.
 */
function pageSql(side: 'sender' | 'receiver', { userId, status, after, limit }: RequestFilter): Sql {
  const ofStatus = status === undefined ? empty : sql`AND status = ${status}::partner_request_status`;
  const ownStore = raw(side === 'sender' ? 'sender_store_id' : 'receiver_store_id');
  return sql`
    SELECT * FROM partner_requests
    WHERE ${ownStore} = (SELECT id FROM stores WHERE owner_id = ${userId}) ${ofStatus}
      AND (created_at, id) < (${afterTime(after)}, ${afterId(after)})
    ORDER BY created_at DESC, id DESC LIMIT ${limit}`;
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

const storeRelations = {
  owner: { select: { name: true, email: true } },
  categories: { orderBy: { position: 'asc' }, select: { category: { select: { id: true, name: true } } } },
} as const;

function summaryOf(store: {
  id: number;
  name: string;
  categories: { category: { id: number; name: string } }[];
}): StoreSummary {
  const { id, name, categories } = store;
  return { id, name, store_categories: categories.map(({ category }) => category) };
}

const isOpen = ({ closedAt, suspendedAt }: Pick<Store, 'closedAt' | 'suspendedAt'>) =>
  closedAt === null && suspendedAt === null;

const idsWhere = (condition: Sql) => sql`SELECT id FROM partner_requests WHERE ${condition}`;

/**
 * Withdraws pending requests and ends accepted ones. Rows are locked in id order to avoid deadlocks, and updated and looked up by
 * their ids, because a join may read all requests and stores. A request that another transaction accepts meanwhile is waited for.
 *
 * @param states which of them, as they are once they are locked
 * @param ids a query for the ids
 * @param notifiedStore SQL of the store of `c` whose owner is to be notified
 * @returns those whose other side has an account
 */
function close(tx: Tx, states: Sql, ids: Sql, notifiedStore: Sql): Promise<ClosedRequest[]> {
  return tx.query<ClosedRequest>(sql`
    WITH locked AS (
      SELECT id FROM partner_requests WHERE id = ANY (ARRAY(${ids})) AND ${states} ORDER BY id + 0 FOR UPDATE
    ), closed AS (
      UPDATE partner_requests SET updated_at = now(),
        status = CASE status WHEN 'requested' THEN 'withdrawn'::partner_request_status ELSE 'ended' END
      WHERE id = ANY (ARRAY(SELECT id FROM locked))
      RETURNING id, status, sender_store_id, receiver_store_id
    ), notified AS (
      SELECT c.id AS "requestId", c.status, (SELECT owner_id FROM stores WHERE id = ${notifiedStore}) AS "userId"
      FROM closed c
    )
    SELECT "requestId", status, "userId" FROM notified WHERE "userId" IS NOT NULL ORDER BY "requestId"`);
}
