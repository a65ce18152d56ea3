import { currentUser } from '../../../http/authentication.ts';
import { NotModified, ReadConditions, sendIfChanged } from '../../../http/conditions.ts';
import { errorsOfForms } from '../../../http/errors.ts';
import { paginate } from '../../../http/pagination.ts';
import { operation, type Routes } from '../../../http/route-config.ts';
import { isBigId, Ref } from '../../../http/schemas.ts';
import type { ImageUrls } from '../../images/index.ts';
import type { Notifications } from './repository.ts';
import * as schemas from './schemas.ts';

/** The notifications of the logged-in user. */
export const inboxRoutes: Routes<{ notifications: Notifications; imageUrls: ImageUrls }> = async (
  app,
  { notifications, imageUrls },
) => {
  app.get('/mypage/', {
    config: operation('user', '알림 목록을 조회했습니다.', 'Here are your notifications.'),
    schema: {
      operationId: 'listNotifications',
      summary: 'List notifications',
      description:
        'What happened to the partnership requests of the user, and new posts that match a saved search, newest first. `unread_count` counts all unread notifications, regardless of page and filter.',
      querystring: schemas.NotificationQuery,
      response: { 200: Ref(schemas.NotificationPage) },
    },
    handler: async (request) => {
      const { id: userId } = currentUser(request);
      const { is_read: isRead } = request.query;
      let unread_count = 0;
      const page = await paginate(request.query, {
        isId: isBigId,
        async find({ after, limit }) {
          const found = await notifications.find({ userId, isRead, beforeId: after?.id, limit });
          unread_count = found?.unreadCount ?? 0;
          return found?.rows ?? [];
        },
        present: (row) => schemas.toNotification(row, request.language, imageUrls),
      });
      return { ...page, unread_count };
    },
  });

  app.post('/mark-read/', {
    config: operation(
      'user',
      '알림을 읽음으로 표시했습니다.',
      'Your notifications have been marked as read.',
    ),
    schemaErrorFormatter: errorsOfForms({ ids: schemas.MarkReadByIds, up_to_id: schemas.MarkReadUpTo }),
    schema: {
      operationId: 'markNotificationsRead',
      summary: 'Mark as read',
      description:
        'Marks single notifications, or one and all older ones. Repeating it changes nothing. Unknown ids and notifications of other users are ignored and not counted.',
      body: Ref(schemas.NotificationsToMark),
      response: { 200: Ref(schemas.ReadCount) },
    },
    handler: async (request) => {
      const { id } = currentUser(request);
      const updated = await notifications.markRead(id, request.body);
      return { updated_count: updated, unread_count: await notifications.countUnread(id) };
    },
  });

  app.get('/unread-count/', {
    config: operation('user', '읽지 않은 알림 수를 조회했습니다.', 'Here is the unread count.'),
    schema: {
      operationId: 'countUnreadNotifications',
      summary: 'Count unread notifications',
      description: 'Send the `ETag` of the last response as `If-None-Match` to poll cheaply.',
      headers: ReadConditions,
      response: { 200: Ref(schemas.UnreadCount), 304: NotModified },
    },
    handler: async (request, reply) => {
      const unread_count = await notifications.countUnread(currentUser(request).id);
      return sendIfChanged(reply, { unread_count });
    },
  });
};
