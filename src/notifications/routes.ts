import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { currentUser } from '../http/authentication.ts';
import { paginate } from '../http/pagination.ts';
import { Ref } from '../http/schemas.ts';
import { markReadError } from './mark-read-error.ts';
import { toNotification } from './presenters.ts';
import type { Notifications } from './repository.ts';
import {
  entityTagHeader,
  NotificationPage,
  NotificationQuery,
  NotificationsToMark,
  ReadCount,
  UnreadCount,
} from './schemas.ts';

/** Listing notifications, marking them as read and counting the unread ones. */
export const notificationRoutes: FastifyPluginAsyncTypebox<{ notifications: Notifications }> = async (
  app,
  { notifications },
) => {
  app.get(
    '/mypage/',
    {
      config: { message: { ko: '알림 목록을 조회했습니다.', en: 'Here are your notifications.' } },
      schema: {
        operationId: 'listNotifications',
        summary: 'List notifications',
        description:
          'What happened to the partnership requests of the user, newest first. `unread_count` counts all unread notifications, regardless of page and filter.',
        querystring: NotificationQuery,
        response: { 200: Ref(NotificationPage) },
      },
    },
    async (request) => {
      const { id: userId } = currentUser(request);
      const { is_read: isRead } = request.query;
      let unread_count = 0;
      const page = await paginate(request.query, {
        isId: isNotificationId,
        async find({ after, limit }) {
          const found = await notifications.find({ userId, isRead, beforeId: after?.id, limit });
          unread_count = found.unreadCount;
          return found.rows;
        },
        present: (row) => toNotification(row, request.language),
      });
      return { ...page, unread_count };
    },
  );

  app.post(
    '/mark-read/',
    {
      config: {
        message: { ko: '알림을 읽음으로 표시했습니다.', en: 'Your notifications have been marked as read.' },
      },
      schemaErrorFormatter: markReadError,
      schema: {
        operationId: 'markNotificationsRead',
        summary: 'Mark as read',
        description:
          'Marks single notifications, or one and all older ones. Repeating it changes nothing. Unknown ids and notifications of other users are ignored and not counted.',
        body: Ref(NotificationsToMark),
        response: { 200: Ref(ReadCount) },
      },
    },
    async (request) => {
      const { id } = currentUser(request);
      const updated = await notifications.markRead(id, request.body);
      return { updated_count: updated, unread_count: await notifications.countUnread(id) };
    },
  );

  app.get(
    '/unread-count/',
    {
      config: { message: { ko: '읽지 않은 알림 수를 조회했습니다.', en: 'Here is the unread count.' } },
      schema: {
        operationId: 'countUnreadNotifications',
        summary: 'Count unread notifications',
        description: 'Send the `ETag` of the last answer as `If-None-Match` to poll cheaply.',
        headers: Type.Object({
          'if-none-match': Type.Optional(Type.String({ description: 'The `ETag` of a previous answer' })),
        }),
        response: {
          200: { ...Ref(UnreadCount), headers: entityTagHeader },
          304: Type.Null({ description: 'The count has not changed', headers: entityTagHeader }),
        },
      },
    },
    async (request, reply) => {
      const unreadCount = await notifications.countUnread(currentUser(request).id);
      const tag = `"${unreadCount}-${request.language}"`;
      reply.header('etag', tag);
      if (matchesEntityTag(request.headers['if-none-match'], tag)) return reply.code(304).send(null);
      return { unread_count: unreadCount };
    },
  );
};

/** The column has 64 bits, but JSON numbers are exact only up to here. */
function isNotificationId(text: string): boolean {
  return /^[1-9]\d{0,15}$/.test(text) && Number.isSafeInteger(Number(text));
}

/**
 * Whether an `If-None-Match` header matches an entity tag (RFC 9110, section 13.1.2: a list of tags, compared weakly, or `*`).
 *
 * @param tag the current tag, in quotes
 */
function matchesEntityTag(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === '*') return true;
  const known: string[] = ifNoneMatch.match(/"[^"]*"/g) ?? [];
  return known.includes(tag);
}
