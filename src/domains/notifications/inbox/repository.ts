import type { ExpiredRows } from '../../../infrastructure/database/clean-up.ts';
import type { Database, Tx } from '../../../infrastructure/database/client.ts';
import type { Notification, PartnerRequest } from '../../../infrastructure/database/generated/client.ts';
import type { NotificationKind } from '../../../infrastructure/database/generated/enums.ts';
import type { InJson } from '../../../infrastructure/database/json-times.ts';
import { readTogether } from '../../../infrastructure/database/read-together.ts';
import { constant, empty, raw, type Sql, sql } from '../../../infrastructure/database/sql.ts';
import type { Outbox } from '../../../infrastructure/jobs/outbox.ts';
import type { PartnerRequestKind } from '../../partner-requests/index.ts';
import type { PostSummaryRow } from '../../posts/index.ts';
import { isOpenStore, type StoreSummary, storeSummarySql } from '../../stores/index.ts';
import type { NotificationPartnerRequest, NotificationsToMark } from './schemas.ts';

interface AnyRow extends Pick<Notification, 'createdAt'> {
  id: number;
  isRead: boolean;
}

/** A notification with the request it is about, which has the names of the API. */
interface PartnershipRow extends AnyRow {
  kind: PartnerRequestKind;
  request: Omit<NotificationPartnerRequest, 'status'> & Pick<PartnerRequest, 'status'>;
  /** Whether the recipient is the sender of the request; else the receiver. */
  toSender: boolean;
}

/** A notification with the post it is about. */
interface MatchRow extends AnyRow {
  kind: 'saved_search_match';
  match: { savedSearchId: number; post: PostSummaryRow; store: StoreSummary };
}

/** A notification of posts beyond those that have one each. */
interface DigestRow extends AnyRow {
  kind: 'saved_search_digest';
  matches: number;
}

export type NotificationRow = PartnershipRow | MatchRow | DigestRow;

/** The match `n`. A post that readers do not find any more keeps its title only. */
const matchSql = sql`
  SELECT json_build_object('savedSearchId', n.saved_search_id, 'store', ${storeSummarySql},
    'post', json_build_object('id', p.id, 'title', p.title, 'createdAt', p.created_at,
      'firstImage', CASE WHEN p.is_visible AND ${isOpenStore('s')} THEN p.images[1] END))
  FROM posts p JOIN stores s ON s.id = p.store_id WHERE p.id = n.post_id`;

/** Adds what they are about to rows of `notifications`, given as a query. Most are about requests, whose joins are remembered. */
const withSubjects = (notifications: Sql) => sql`
  SELECT n.id, n.kind, n.is_read AS "isRead", n.created_at AS "createdAt",
    CASE WHEN r.id IS NOT NULL THEN json_build_object('id', r.id, 'post_id', r.post_id, 'post_title', p.title,
      'status', r.status, 'sender_store_id', r.sender_store_id, 'sender_store_name', s.name,
      'receiver_store_id', r.receiver_store_id, 'receiver_store_name', v.name, 'message', r.message) END AS request,
    coalesce(s.owner_id = n.user_id, false) AS "toSender",
    CASE WHEN n.post_id IS NOT NULL THEN (${matchSql}) END AS match, n.matches
  FROM (${notifications}) n
  LEFT JOIN partner_requests r ON r.id = n.partner_request_id
  LEFT JOIN posts p ON p.id = r.post_id
  LEFT JOIN stores s ON s.id = r.sender_store_id
  LEFT JOIN stores v ON v.id = r.receiver_store_id`;

/** A page, with the number of the user's unread notifications; `place` is that of the page among the wanted ones. */
interface FoundPage {
  place: number;
  unreadCount: number;
  rows: InJson<NotificationRow>[];
}

/** A user, and the change of a request, the match of a saved search, or the number of such matches, that the notification is about. */
export interface Recipient {
  userId: number;
  kind: NotificationKind;
  requestId?: number;
  postId?: number;
  savedSearchId?: number;
  matches?: number;
}

/** Which of a user's notifications; `beforeId`: only older ones. */
interface NotificationFilter {
  userId: number;
  isRead?: boolean | undefined;
  beforeId?: string | undefined;
  limit: number;
}

type WantedPage = Omit<NotificationFilter, 'isRead'> & { beforeId: string };

/** Pages that are read with one statement, because a page may have 100 rows. */
const maxTogether = 8;

const largestId = '9223372036854775807';

/** Of the table. */
export const partitions = 16;

/** Notifications that are marked as read in one transaction. */
const batchSize = 5_000;

/** Those that were read, in each partition. @param ttl seconds, a constant, so that the plan is for few rows; 0: none expire */
export function expiredNotifications(ttl: number): ExpiredRows[] {
  const condition = sql`is_read AND created_at < now() - make_interval(secs => ${constant(ttl)})`;
  return Array.from({ length: ttl === 0 ? 0 : partitions }, (_, n) => ({
    table: `notifications_${n}`,
    condition,
  }));
}

export type Notifications = ReturnType<typeof createNotificationRepository>;

/** Notifications of users, read and unread. */
export function createNotificationRepository(database: Database, { wake }: Pick<Outbox, 'wake'>) {
  /** Adds notifications and wakes up the streams of their users. Call it last in a transaction: a lock of their counts lasts until its end. */
  async function notify(tx: Tx, recipients: Recipient[]): Promise<void> {
    if (recipients.length === 0) return;
    const column = (name: 'userId' | 'requestId' | 'postId' | 'savedSearchId' | 'matches') =>
      recipients.map(({ [name]: value }) => value ?? null);
    await tx.execute(sql`
      SELECT notify(${column('userId')}::int[], ${recipients.map(({ kind }) => kind)}::notification_kind[],
        ${column('requestId')}::bigint[], ${column('postId')}::bigint[], ${column('savedSearchId')}::int[],
        ${column('matches')}::int[])`);
    tx.afterCommit(wake);
  }

  const findPages = (filter: Sql) =>
    readTogether(
      (wanted: WantedPage[]) => {
        const page = sql`
          SELECT * FROM notifications
          WHERE user_id = wanted.user_id AND id < wanted.before_id ${filter} ORDER BY id DESC LIMIT wanted.size`;
        return database.query<FoundPage>(sql`
          SELECT wanted.place::int, coalesce(c.unread, 0) AS "unreadCount",
            (SELECT coalesce(json_agg(item), '[]') FROM (${withSubjects(page)} ORDER BY n.id DESC) item) AS rows
          FROM unnest(
            ${wanted.map(({ userId }) => userId)}::int[], ${wanted.map(({ beforeId }) => beforeId)}::bigint[],
            ${wanted.map(({ limit }) => limit)}::int[]
          ) WITH ORDINALITY AS wanted(user_id, before_id, size, place)
          LEFT JOIN notification_counts c ON c.user_id = wanted.user_id`);
      },
      ({ place }, wanted) => wanted[place - 1],
      maxTogether,
    );
  // A text for each filter, as each is read through an index of its own.
  const pages = {
    all: findPages(empty),
    read: findPages(sql`AND is_read`),
    unread: findPages(sql`AND NOT is_read`),
  };

  /** One page of a user's notifications, newest first, and the number of all unread ones, as of one moment. */
  async function find({ isRead, beforeId = largestId, ...wanted }: NotificationFilter) {
    const findPage = isRead === undefined ? pages.all : isRead ? pages.read : pages.unread;
    const page = await findPage({ beforeId, ...wanted });
    return { rows: page?.rows ?? [], unreadCount: page?.unreadCount ?? 0 };
  }

  /** Notifications of a user after one of them, oldest first: what a stream sends. */
  async function listAfter(userId: number, afterId: number, limit: number): Promise<NotificationRow[]> {
    const newer = sql`
      SELECT * FROM notifications WHERE user_id = ${userId} AND id > ${afterId}::bigint ORDER BY id LIMIT ${limit}`;
    return database.query<NotificationRow>(sql`${withSubjects(newer)} ORDER BY n.id`);
  }

  /** A notification of a user; undefined when there is none. */
  async function findOne(userId: number, id: number): Promise<NotificationRow | undefined> {
    return (await listAfter(userId, id - 1, 1)).find((row) => row.id === id);
  }

  /** A user who never had a notification has no row. */
  const findCount = readTogether(
    (userIds: number[]) =>
      database.query<{ userId: number; unread: number }>(sql`
        SELECT user_id AS "userId", unread FROM notification_counts WHERE user_id = ANY (${userIds})`),
    ({ userId }) => userId,
  );

  async function countUnread(userId: number): Promise<number> {
    return (await findCount(userId))?.unread ?? 0;
  }

  /** Marks notifications of a user as read; ids of other users are ignored. @returns how many were unread */
  async function markRead(userId: number, which: NotificationsToMark): Promise<number> {
    if ('ids' in which)
      return (await markBatch(userId, sql`SELECT unnest(${which.ids}::bigint[]) AS id`)).updated;
    // In transactions of bounded length, as a user may have any number of unread notifications.
    let total = 0;
    for (let after: number | null = 0; after !== null; ) {
      const { updated, last } = await markBatch(
        userId,
        sql`
          SELECT id FROM notifications
          WHERE user_id = ${userId} AND NOT is_read AND id > ${after}::bigint AND id <= ${which.up_to_id}::bigint
          ORDER BY id LIMIT ${raw(String(batchSize))}`,
      );
      total += updated;
      after = last;
    }
    return total;
  }

  /**
   * Marks at most {@link batchSize} notifications as read, in one statement.
   *
   * @param ids a query for the ids
   * @returns how many were unread, and the largest id of a full batch; null when there are no more
   */
  async function markBatch(userId: number, ids: Sql) {
    // The lock of the count comes first, so that concurrent batches of a user cannot deadlock. A full batch is one that was found
    // full, whatever others mark before the lock.
    const [row] = await database.query<{ updated: number; last: number | null }>(sql`
      WITH locked AS MATERIALIZED (
        SELECT FROM notification_counts WHERE user_id = ${userId} AND unread > 0 FOR NO KEY UPDATE
      ), batch AS MATERIALIZED (${ids}), marked AS (
        UPDATE notifications SET is_read = true
        WHERE user_id = ${userId} AND NOT is_read AND id = ANY (ARRAY(SELECT id FROM batch))
          AND (SELECT count(*) FROM locked) > 0
        RETURNING id
      ), counted AS (
        UPDATE notification_counts SET unread = unread - (SELECT count(*) FROM marked)
        WHERE user_id = ${userId} AND (SELECT count(*) FROM marked) > 0
        RETURNING user_id
      ), woken AS (
        INSERT INTO outbox (user_id) SELECT user_id FROM counted
      )
      SELECT count(*)::int AS updated,
        (SELECT max(id) FROM batch HAVING count(*) = ${raw(String(batchSize))}) AS last
      FROM marked`);
    if (row?.updated) wake();
    return row ?? { updated: 0, last: null };
  }

  /** Locks the counts of users, in the order that everything locks them in: where a transaction changes others before it deletes one. */
  async function lockCounts(tx: Tx, userIds: number[]): Promise<void> {
    await tx.execute(sql`
      SELECT FROM notification_counts WHERE user_id = ANY (${userIds}) ORDER BY user_id FOR NO KEY UPDATE`);
  }

  return { notify, find, findOne, listAfter, countUnread, markRead, lockCounts };
}
