import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { currentUser } from '../../http/authentication.ts';
import { httpErrors } from '../../http/errors.ts';
import { readCursor, toPage } from '../../http/pagination.ts';
import { Reference } from '../../http/schemas.ts';
import type { NotificationDependencies } from '../dependencies.ts';
import { hasCurrent } from '../entity-tag.ts';
import { markReadError } from '../mark-read-error.ts';
import { toNotification } from '../repository/notifications.ts';
import {
  entityTagHeader,
  MarkReadRequest,
  NotificationPage,
  NotificationQuery,
  ReadCount,
  UnreadCount,
} from '../schemas.ts';

interface Options {
  dependencies: NotificationDependencies;
}

/** Listing notifications, marking them as read and counting the unread ones. */
export const notificationRoutes: FastifyPluginAsyncTypebox<Options> = async (
  app,
  { dependencies: { notifications } },
) => {
  app.get(
    '/mypage/',
    {
      config: {
        message: { ko: '알림 목록을 조회했습니다.', en: 'Here are your notifications.' },
        errors: [httpErrors.invalidCursor],
      },
      schema: {
        operationId: 'listNotifications',
        summary: 'List notifications',
        description:
          'What happened to the partnership requests of the user, newest first. `unread_count` counts all unread notifications, whatever the page and the filter.',
        tags: ['notifications'],
        querystring: NotificationQuery,
        response: { 200: Reference(NotificationPage) },
      },
    },
    async (request) => {
      const { is_read: isRead, limit, cursor } = request.query;
      const { rows, unreadCount } = await notifications.find({
        userId: currentUser(request).id,
        isRead,
        beforeId: readCursor(cursor, isNotificationId)?.id,
        limit: limit + 1,
      });
      const page = toPage(
        rows,
        limit,
        ({ created_at, id }) => ({ time: created_at.getTime(), id }),
        (row) => toNotification(row, request.language),
      );
      return { ...page, unread_count: unreadCount };
    },
  );

  app.post(
    '/mark-read/',
    {
      config: { message: { ko: '알림을 읽음으로 표시했습니다.', en: 'Marked as read.' } },
      schemaErrorFormatter: markReadError,
      schema: {
        operationId: 'markNotificationsRead',
        summary: 'Mark as read',
        description:
          'Marks single notifications, or one and all older ones. Repeating it changes nothing. Notifications of others and unknown ids are ignored and not counted.',
        tags: ['notifications'],
        body: Reference(MarkReadRequest),
        response: { 200: Reference(ReadCount) },
      },
    },
    async (request) => {
      const { id } = currentUser(request);
      const updated = await notifications.mark(id, request.body);
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
        tags: ['notifications'],
        headers: Type.Object({
          'if-none-match': Type.Optional(Type.String({ description: 'The `ETag` of an answer before' })),
        }),
        response: {
          200: { ...Reference(UnreadCount), headers: entityTagHeader },
          304: Type.Null({
            description: 'The count is still the one that the client knows',
            headers: entityTagHeader,
          }),
        },
      },
    },
    async (request, reply) => {
      const unreadCount = await notifications.countUnread(currentUser(request).id);
      const tag = `"${unreadCount}-${request.language}"`;
      reply.header('etag', tag);
      if (hasCurrent(request.headers['if-none-match'], tag)) return reply.code(304).send(null);
      return { unread_count: unreadCount };
    },
  );
};

/** 64 bits hold more, but no notification has such an id. */
function isNotificationId(text: string): boolean {
  return /^[1-9]\d{0,15}$/.test(text) && Number.isSafeInteger(Number(text));
}
