import type { Connection, Database } from '../../database/client.ts';
import type { Language } from '../../http/language.ts';
import { type NotificationEvent, notificationChannel } from '../events.ts';
import {
  type MarkReadRequest,
  type Notification,
  type NotificationKind,
  type PartnerRequestState,
  partnerRequestStatuses,
} from '../schemas.ts';
import { notificationMessage } from '../wording.ts';

/** A notification with all that it says of its request. */
export interface NotificationRow {
  /** 64 bits, which the driver gives as text. */
  id: string;
  kind: NotificationKind;
  is_read: boolean;
  created_at: Date;
  request_id: number;
  post_id: number;
  post_title: string;
  status: PartnerRequestState;
  message: string;
  sender_store_name: string;
  receiver_store_name: string;
  /** Whether it tells the sender of the request; else the receiver. */
  to_sender: boolean;
}

/** A row as the API shows it, with its sentence in a language. */
export function toNotification(row: NotificationRow, language: Language): Notification {
  return {
    id: Number(row.id),
    kind: row.kind,
    message: notificationMessage(row, language),
    is_read: row.is_read,
    created_at: row.created_at.toISOString(),
    partner_request: {
      id: row.request_id,
      post_id: row.post_id,
      post_title: row.post_title,
      status: partnerRequestStatuses[row.status],
      sender_store_name: row.sender_store_name,
      receiver_store_name: row.receiver_store_name,
      message: row.message,
    },
  };
}

/** Adds to rows of `notifications`, given as a query, what they say of their requests. */
const withRequests = (notifications: string) => `
  SELECT n.id, n.kind, n.is_read, n.created_at, r.id AS request_id, r.post_id, p.title AS post_title, r.status, r.message,
    s.name AS sender_store_name, v.name AS receiver_store_name, coalesce(s.owner_id = n.user_id, false) AS to_sender
  FROM (${notifications}) n
  JOIN partner_requests r ON r.id = n.partner_request_id
  JOIN posts p ON p.id = r.post_id
  JOIN stores s ON s.id = r.sender_store_id
  JOIN stores v ON v.id = r.receiver_store_id`;

const unreadOf = 'SELECT count(*)::int AS unread_count FROM notifications WHERE user_id = $1 AND NOT is_read';

/** One page and the unread count as of one moment. A statement for each filter, so that each finds its index. */
const page = (filter: string) => `
  SELECT unread_count, page.* FROM (${unreadOf}) unread
  LEFT JOIN (${withRequests(
    `SELECT * FROM notifications WHERE user_id = $1 AND id < $2::bigint ${filter} ORDER BY id DESC LIMIT $3`,
  )}) page ON true
  ORDER BY page.id DESC`;

const pages = {
  all: { name: 'list_notifications', text: page('') },
  read: { name: 'list_read_notifications', text: page('AND is_read') },
  unread: { name: 'list_unread_notifications', text: page('AND NOT is_read') },
};

const listNewer = `
  ${withRequests('SELECT * FROM notifications WHERE user_id = $1 AND id > $2::bigint ORDER BY id LIMIT $3')}
  ORDER BY n.id`;

/** Rows are locked in the order of their ids, so that parallel requests never wait for each other in a circle. */
const markRead = (which: string) => `
  WITH unread AS (
    SELECT id FROM notifications WHERE user_id = $1 AND NOT is_read AND ${which} ORDER BY id FOR UPDATE
  ), marked AS (
    UPDATE notifications n SET is_read = true FROM unread WHERE n.id = unread.id RETURNING n.id
  )
  SELECT count(*)::int AS updated_count, CASE WHEN count(*) > 0 THEN pg_notify($3, $4)::text END FROM marked`;

const marks = {
  ids: { name: 'mark_notifications_read', text: markRead('id = ANY ($2::bigint[])') },
  upTo: { name: 'mark_notifications_read_up_to', text: markRead('id <= $2::bigint') },
};

const largestId = '9223372036854775807';

/** The first key of the advisory locks under which notifications are added; the second is the user's id. */
const addingLock = 1_852_798_825;

/** Which of a user's notifications, newest first. */
export interface NotificationFilter {
  userId: number;
  isRead: boolean | undefined;
  /** Only notifications older than this one. */
  beforeId: string | undefined;
  limit: number;
}

/** Whom to tell, about which request. */
export interface Recipient {
  userId: number;
  requestId: number;
}

export type Notifications = ReturnType<typeof createNotificationRepository>;

/** Notifications of users, read and unread. */
export function createNotificationRepository(database: Database) {
  /**
   * Tells users about requests, and the instances that stream to them. Ids of one user grow in the order of the commits: the
   * number is drawn under a lock of the user that lasts as long as the transaction, so call this as the last thing in it.
   */
  async function add(
    transaction: Connection,
    kind: NotificationKind,
    recipients: Recipient[],
  ): Promise<void> {
    if (recipients.length === 0) return;
    const users = [...new Set(recipients.map(({ userId }) => userId))].sort((one, other) => one - other);
    await transaction.$executeRaw`
      SELECT pg_advisory_xact_lock(${addingLock}::int, user_id) FROM unnest(${users}::int[]) user_id`;
    await transaction.$executeRaw`
      WITH added AS (
        INSERT INTO notifications (user_id, kind, partner_request_id, created_at)
        SELECT user_id, ${kind}::notification_kind, request_id, clock_timestamp()
        FROM unnest(${recipients.map(({ userId }) => userId)}::int[],
          ${recipients.map(({ requestId }) => requestId)}::int[]) AS recipient(user_id, request_id)
        RETURNING id, user_id
      )
      SELECT pg_notify(${notificationChannel},
        json_build_object('user_id', user_id, 'notification_id', id)::text) FROM added`;
  }

  /** How often a user was told within an hour of what is mailed, too; of the newest 240, which is more than anybody asks for. */
  async function countOfLastHour(transaction: Connection, userId: number): Promise<number> {
    const [row] = await transaction.$queryRaw<{ count: number }[]>`
      SELECT count(*)::int AS count
      FROM (SELECT kind, created_at FROM notifications WHERE user_id = ${userId} ORDER BY id DESC LIMIT 240) n
      WHERE kind <> 'partner_request_withdrawn' AND created_at > now() - interval '1 hour'`;
    return row?.count ?? 0;
  }

  /** Notifications of a user, newest first, with the number of all unread ones. */
  async function find({ userId, isRead, beforeId, limit }: NotificationFilter) {
    const { name, text } = isRead === undefined ? pages.all : isRead ? pages.read : pages.unread;
    const { rows } = await database.query<{ unread_count: number } & (NotificationRow | { id: null })>(
      name,
      text,
      [userId, beforeId ?? largestId, limit],
    );
    return {
      rows: rows.flatMap((row) => (row.id === null ? [] : [row])),
      unreadCount: rows[0]?.unread_count ?? 0,
    };
  }

  /** Notifications of a user that came after one, oldest first: what a stream sends. */
  async function listAfter(userId: number, afterId: number, limit: number): Promise<NotificationRow[]> {
    const values = [userId, afterId, limit];
    return (await database.query<NotificationRow>('list_newer_notifications', listNewer, values)).rows;
  }

  async function countUnread(userId: number): Promise<number> {
    const { rows } = await database.query<{ unread_count: number }>('count_unread', unreadOf, [userId]);
    return rows[0]?.unread_count ?? 0;
  }

  /** Marks notifications of a user as read; others are left alone. @returns how many were unread before */
  async function mark(userId: number, which: MarkReadRequest): Promise<number> {
    const event: NotificationEvent = { user_id: userId, unread: true };
    const { name, text } = 'ids' in which ? marks.ids : marks.upTo;
    const { rows } = await database.query<{ updated_count: number }>(name, text, [
      userId,
      'ids' in which ? which.ids : which.up_to_id,
      notificationChannel,
      JSON.stringify(event),
    ]);
    return rows[0]?.updated_count ?? 0;
  }

  return { add, countOfLastHour, find, listAfter, countUnread, mark };
}
