import type { Database, Tx } from '../../../infrastructure/database/client.ts';
import type { Notification, PartnerRequest } from '../../../infrastructure/database/generated/client.ts';
import type { NotificationKind } from '../../../infrastructure/database/generated/enums.ts';
import { readTogether } from '../../../infrastructure/database/shared-reads.ts';
import { constant, raw, type Sql, sql } from '../../../infrastructure/database/sql.ts';
import type { Outbox } from '../../../infrastructure/jobs/outbox.ts';
import type { InJson } from '../../../infrastructure/times.ts';
import type { PartnerRequestKind } from '../../partner-requests/index.ts';
import type { PostSummaryRow } from '../../posts/index.ts';
import { isOpenStore, type StoreSummary, storeSummarySql } from '../../stores/index.ts';
import type { NotificationPartnerRequest, NotificationsToMark } from './schemas.ts';

type AnyRow = Pick<Notification, 'createdAt'> & { id: number; isRead: boolean };

/** A notification with the request it is about, which has the names of the API. */
interface PartnershipRow extends AnyRow {
  kind: PartnerRequestKind;
  request: Omit<NotificationPartnerRequest, 'status'> & Pick<PartnerRequest, 'status'>;
  /** Whether the recipient is the sender of the request; else the receiver. */
  toSender: boolean;
}

interface MatchRow extends AnyRow {
  kind: 'saved_search_match';
  match: { savedSearchId: number; post: PostSummaryRow; store: StoreSummary };
}

/** A notification of posts beyond those that have one each. */
type DigestRow = AnyRow & { kind: 'saved_search_digest'; matches: number };

export type NotificationRow = PartnershipRow | MatchRow | DigestRow;

/** The match `n`. A post that readers do not find any more keeps its title only. */
const matchSql = sql`
  SELECT json_build_object('savedSearchId', n.saved_search_id, 'store', ${storeSummarySql},
    'post', json_build_object('id', p.id, 'title', p.title, 'createdAt', p.created_at,
      'firstImage', CASE WHEN p.is_visible AND ${isOpenStore('s')} THEN p.images[1] END))
  FROM posts p JOIN stores s ON s.id = p.store_id WHERE p.id = n.post_id`;

/** Adds what they are about to rows of `notifications`, given as the call of a function. Most are about requests, whose joins are remembered. */
const withSubjects = (notifications: Sql) => sql`
  SELECT n.id, n.kind, n.is_read AS "isRead", n.created_at AS "createdAt",
    CASE WHEN r.id IS NOT NULL THEN json_build_object('id', r.id, 'post_id', r.post_id, 'post_title', p.title,
      'status', r.status, 'sender_store_id', r.sender_store_id, 'sender_store_name', s.name,
      'receiver_store_id', r.receiver_store_id, 'receiver_store_name', v.name, 'message', r.message) END AS request,
    coalesce(s.owner_id = n.user_id, false) AS "toSender",
    CASE WHEN n.post_id IS NOT NULL THEN (${matchSql}) END AS match, n.matches
  FROM ${notifications} n
  LEFT JOIN partner_requests r ON r.id = n.partner_request_id
  LEFT JOIN posts p ON p.id = r.post_id
  LEFT JOIN stores s ON s.id = r.sender_store_id
  LEFT JOIN stores v ON v.id = r.receiver_store_id`;

/** A page, with the number of the user's unread notifications; `place` is that of the page among the wanted ones. */
type FoundPage = { place: number; unreadCount: number; rows: InJson<NotificationRow>[] };

/** A user, and the change of a request, the match of a saved search, or the number of such matches, that the notification is about. */
type Recipient = { userId: number; kind: NotificationKind } & Partial<Record<Subject, number>>;
type Subject = 'requestId' | 'postId' | 'savedSearchId' | 'matches';

/** Which of a user's notifications; `beforeId`: only older ones. */
interface NotificationFilter {
  userId: number;
  isRead?: boolean | undefined;
  beforeId?: string | undefined;
  limit: number;
}

/** Pages that are read with one statement, because a page may have 100 rows. */
const maxTogether = 8;
const largestId = '9223372036854775807';

/** Notifications that are marked as read in one transaction. */
const batchSize = 5_000;

/** How many were unread, and the largest id of a full batch; null when there are no more. */
interface MarkedBatch {
  updated: number;
  last: number | null;
}

export type Notifications = ReturnType<typeof createNotificationRepository>;
/** Notifications of users, read and unread. */
export function createNotificationRepository(database: Database, { wake }: Pick<Outbox, 'wake'>) {
  /** Adds notifications and wakes up the streams of their users. Call it last in a transaction: a lock of their counts lasts until its end. */
  async function notify(tx: Tx, recipients: Recipient[]): Promise<void> {
    if (recipients.length === 0) return;
    const column = (name: 'userId' | Subject) => recipients.map(({ [name]: value }) => value ?? null);
    await tx.execute(sql`/* notifications.notify */
      SELECT notify(${column('userId')}::int[], ${recipients.map(({ kind }) => kind)}::notification_kind[],
        ${column('requestId')}::bigint[], ${column('postId')}::bigint[], ${column('savedSearchId')}::int[],
        ${column('matches')}::int[])`);
    tx.afterCommit(wake);
  }

  /** One page of a user's notifications, newest first, and the number of all unread ones, as of one moment. */
  const find = readTogether(
    (wanted: NotificationFilter[]) => {
      const page = sql`notification_page(wanted.user_id, wanted.before_id, wanted.size, wanted.is_read)`;
      return database.query<FoundPage>(sql`/* notifications.listPage */
        SELECT wanted.place::int, coalesce(c.unread, 0) AS "unreadCount",
          (SELECT coalesce(json_agg(item), '[]') FROM (${withSubjects(page)} ORDER BY n.id DESC) item) AS rows
        FROM unnest(
          ${wanted.map(({ userId }) => userId)}::int[], ${wanted.map(({ beforeId = largestId }) => beforeId)}::bigint[],
          ${wanted.map(({ limit }) => limit)}::int[], ${wanted.map(({ isRead }) => isRead ?? null)}::bool[]
        ) WITH ORDINALITY AS wanted(user_id, before_id, size, is_read, place)
        LEFT JOIN notification_counts c ON c.user_id = wanted.user_id`);
    },
    ({ place }, wanted) => wanted[place - 1],
    maxTogether,
  );

  /** Notifications of a user after one of them, oldest first: what a stream sends. */
  async function listAfter(userId: number, afterId: number, limit: number): Promise<NotificationRow[]> {
    const newer = sql`notifications_after(${userId}, ${afterId}, ${limit})`;
    return database.query<NotificationRow>(sql`/* notifications.listAfter */
      ${withSubjects(newer)} ORDER BY n.id`);
  }

  const findOne = async (userId: number, id: number) =>
    (await listAfter(userId, id - 1, 1)).find((row) => row.id === id);

  /** A user who never had a notification has no row. */
  const findCount = readTogether(
    (userIds: number[]) =>
      database.query<{ userId: number; unread: number }>(sql`/* notifications.countUnread */
        SELECT user_id AS "userId", unread FROM notification_counts WHERE user_id = ANY (${userIds})`),
    ({ userId }) => userId,
  );

  const countUnread = async (userId: number) => (await findCount(userId))?.unread ?? 0;

  /** Marks notifications of a user as read; ids of other users are ignored. @returns how many were unread */
  async function markRead(userId: number, which: NotificationsToMark): Promise<number> {
    const ids = 'ids' in which ? which.ids : null;
    const upTo = 'ids' in which ? null : which.up_to_id;
    // In transactions of bounded length, as a user may have any number of unread notifications.
    let total = 0;
    for (let after: number | null = 0; after !== null; ) {
      const [row]: MarkedBatch[] = await database.query<MarkedBatch>(sql`/* notifications.markRead */
        SELECT updated, last FROM mark_notifications_read(
          ${userId}, ${ids}::bigint[], ${after}::bigint, ${upTo}::bigint, ${constant(batchSize)})`);
      if (row?.updated) wake();
      total += row?.updated ?? 0;
      after = row?.last ?? null;
    }
    return total;
  }

  /** Locks the counts of users, in the order that everything locks them in: where a transaction changes others before it deletes one. */
  async function lockCounts(tx: Tx, userIds: number[]): Promise<void> {
    await tx.execute(sql`/* notifications.lockCounts */
      SELECT FROM notification_counts WHERE user_id = ANY (${userIds}) ORDER BY user_id FOR NO KEY UPDATE`);
  }

  /**
   * Part of the clean-up: deletes notifications that are older than `ttl` seconds; 0: none expire. Yields how many a step has found.
   *
   * @param which those that were read, or unread ones of saved searches
   */
  async function* deleteOld(which: 'read' | 'unread matches', ttl: number): AsyncGenerator<number, void> {
    if (ttl === 0) return;
    // The partitions, or the table where it has none.
    const tables = await database.query<{ name: string }>(sql`/* notifications.listPartitions */
      SELECT coalesce(inhrelid, 'notifications'::regclass)::regclass::text AS name
      FROM (SELECT) one LEFT JOIN pg_inherits ON inhparent = 'notifications'::regclass`);
    for (const { name } of tables)
      for (let found = 1; found > 0; yield found) {
        const [row] = await database.query<{ found: number }>(sql`/* notifications.deleteOld */
          SELECT delete_old_notifications(${name}::regclass, ${which === 'read'}, ${ttl}) AS found`);
        found = row?.found ?? 0;
        if (found > 0 && which !== 'read') wake();
      }
  }

  return { notify, find, findOne, listAfter, countUnread, markRead, lockCounts, deleteOld };
}

/** Of saved searches, a user is notified of each so often a day in Korea; the rest is a digest. */
const matchesPerDay = 20;

const today = raw(`(now() AT TIME ZONE 'Asia/Seoul')::date`);

/** Whether a user has had the matches of the day, before another one is counted. */
const isOfDigest = sql`c.match_day >= excluded.match_day AND c.matches >= ${constant(matchesPerDay)}`;

/** The day of the last time for digests, which is 19:00 in Korea. */
const digestDay = raw(`(now() AT TIME ZONE 'Asia/Seoul' - interval '19 hours')::date`);

/**
 * Counts a match for users, in their order, as unread where it is one of the day, and locks the counts.
 *
 * @returns who is notified of it; for others it waits for their next digest
 */
export async function countMatches(tx: Tx, ids: number[]): Promise<Set<number>> {
  const counted = await tx.query<{ id: number; isOfDigest: boolean }>(sql`/* notifications.countMatches */
    INSERT INTO notification_counts AS c (user_id, unread, match_day, matches)
    SELECT id, 1, ${today}, 1 FROM unnest(${ids}::int[]) AS matched(id)
    WHERE (SELECT true FROM users u WHERE u.id = matched.id)
    ON CONFLICT (user_id) DO UPDATE SET match_day = greatest(c.match_day, excluded.match_day),
      matches = 1 + CASE WHEN c.match_day >= excluded.match_day THEN c.matches ELSE 0 END,
      unread = c.unread + CASE WHEN ${isOfDigest} THEN 0 ELSE 1 END,
      waiting_matches = c.waiting_matches + CASE WHEN ${isOfDigest} THEN 1 ELSE 0 END
    RETURNING user_id AS id, matches > ${matchesPerDay} AS "isOfDigest"`);
  return new Set(counted.flatMap(({ id, isOfDigest }) => (isOfDigest ? [] : [id])));
}

/** Takes the matches of users without a digest since the last time for one: a run after midnight belongs to the day before. */
export async function takeWaitingMatches(tx: Tx): Promise<{ userId: number; matches: number }[]> {
  return tx.query(sql`/* notifications.takeWaitingMatches */
    WITH due AS MATERIALIZED (
      SELECT c.user_id, c.waiting_matches FROM notification_counts c JOIN users u ON u.id = c.user_id
      WHERE c.waiting_matches > 0 AND c.digest_day IS DISTINCT FROM ${digestDay} AND u.suspended_at IS NULL
      ORDER BY c.user_id LIMIT 500 FOR NO KEY UPDATE OF c
    )
    UPDATE notification_counts c SET waiting_matches = 0, digest_day = ${digestDay} FROM due WHERE c.user_id = due.user_id
    RETURNING c.user_id AS "userId", due.waiting_matches AS matches`);
}
