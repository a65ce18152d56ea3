import { Readable } from 'node:stream';
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifySchemaValidationError } from 'fastify';
import { currentUser } from '../../http/authentication.ts';
import { NotModified, ReadConditions, sendIfChanged } from '../../http/entity-tags.ts';
import { type ApiError, invalidFields } from '../../http/errors.ts';
import { describeErrors, type Problem } from '../../http/field-errors.ts';
import { paginate } from '../../http/pagination.ts';
import { isBigId, Ref } from '../../http/schemas.ts';
import type { ImageUrls } from '../images/index.ts';
import { toNotification } from './presenters.ts';
import type { Notifications } from './repository.ts';
import {
  MarkReadByIds,
  MarkReadUpTo,
  NotificationEvents,
  NotificationPage,
  NotificationQuery,
  NotificationsToMark,
  ReadCount,
  StreamHeaders,
  UnreadCount,
} from './schemas.ts';
import type { StreamHub } from './stream.ts';

const streamDescription = `Server-sent events for as long as the client reads them, in the language of the request:

\`\`\`
id: 40
retry: 3000
event: unread_count
data: {"unread_count":2}

: heartbeat

id: 41
event: notification
data: {"id":41,"kind":"partner_request_received","message":"...","is_read":false,"created_at":"2026-01-31T09:30:00.000Z","partner_request":{"id":7,"post_id":3,...}}

event: unread_count
data: {"unread_count":3}
\`\`\`

\`data\` is JSON: AnyNotification for \`notification\`, UnreadCount for \`unread_count\`.

- \`notification\`: a new notification, within a second, whichever instance caused it.
- \`unread_count\`: at the start, after new notifications, and when notifications are marked as read anywhere.
- A comment every 25 seconds shows that the connection is alive.

Without \`Last-Event-ID\`, the stream begins with the next new notification; with it, the stream resumes after that notification, without gaps or repetition. Where 500 or more were missed, it ends after 500 of them; reconnect for the rest.

The stream lives as long as the session: it outlasts the access token that opened it, and ends within 5 seconds when the session ends (logout, new password, deletion, suspension). It also ends when the server shuts down and when the client does not read for 30 seconds. A user has at most 10 streams: opening another one ends the oldest. To resume, reconnect with the last \`id\` as \`Last-Event-ID\`. A browser's \`EventSource\` cannot send the \`Authorization\` header: use \`fetch\`, or a library built on it.`;

interface Options {
  notifications: Notifications;
  streams: StreamHub;
  imageUrls: ImageUrls;
}

export const notificationRoutes: FastifyPluginAsyncTypebox<Options> = async (
  app,
  { notifications, streams, imageUrls },
) => {
  app.get(
    '/mypage/',
    {
      config: { message: { ko: '알림 목록을 조회했습니다.', en: 'Here are your notifications.' } },
      schema: {
        operationId: 'listNotifications',
        summary: 'List notifications',
        description:
          'What happened to the partnership requests of the user, and new posts that match a saved search, newest first. `unread_count` counts all unread notifications, regardless of page and filter.',
        querystring: NotificationQuery,
        response: { 200: Ref(NotificationPage) },
      },
    },
    async (request) => {
      const { id: userId } = currentUser(request);
      const { is_read: isRead } = request.query;
      let unread_count = 0;
      const page = await paginate(request.query, {
        isId: isBigId,
        async find({ after, limit }) {
          const found = await notifications.find({ userId, isRead, beforeId: after?.id, limit });
          unread_count = found.unreadCount;
          return found.rows;
        },
        present: (row) => toNotification(row, request.language, imageUrls),
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
        description: 'Send the `ETag` of the last response as `If-None-Match` to poll cheaply.',
        headers: ReadConditions,
        response: { 200: Ref(UnreadCount), 304: NotModified },
      },
    },
    async (request, reply) => {
      const unread_count = await notifications.countUnread(currentUser(request).id);
      return sendIfChanged(reply, { unread_count });
    },
  );

  // Open streams would keep the server from closing.
  app.addHook('preClose', () => streams.close());

  app.get(
    '/stream/',
    {
      config: { errors: [] },
      schema: {
        operationId: 'streamNotifications',
        summary: 'Stream notifications',
        description: streamDescription,
        headers: StreamHeaders,
        response: {
          200: {
            description: 'Events, until either side ends the connection',
            content: { 'text/event-stream': { schema: NotificationEvents } },
          },
        },
      },
    },
    async (request, reply) => {
      const { id: userId, sessionId } = currentUser(request);
      const lastEventId = request.headers['last-event-id'];
      reply.headers({
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'private, no-cache, no-transform',
        // Keeps nginx from buffering events.
        'x-accel-buffering': 'no',
        // The connection is of no use after the stream.
        connection: 'close',
      });
      if (request.method === 'HEAD') return reply.send(Readable.from([]));
      const body = await streams.open({
        userId,
        sessionId,
        language: request.language,
        lastEventId: lastEventId ? Number(lastEventId) : undefined,
        response: reply.raw,
        logger: request.log,
      });
      return reply.send(body);
    },
  );
};

const neither: Problem = {
  code: 'required',
  text: { ko: 'ids와 up_to_id 중 하나를 보내 주세요.', en: 'Send either ids or up_to_id.' },
};
const both: Problem = {
  code: 'not_allowed',
  text: {
    ko: 'ids와 up_to_id를 함께 보낼 수 없습니다. 둘 중 하나만 보내 주세요.',
    en: 'Send only one of ids and up_to_id.',
  },
};

/**
 * Describes what is wrong with a mark-read request. Its body has one of two forms, and the validator reports the errors of
 * both; only those of the form that was meant are shown.
 *
 * @param part of the request that the errors are about: `body` or `querystring`
 */
function markReadError(errors: FastifySchemaValidationError[], part: string): ApiError {
  const isNoObject = errors.some(({ keyword, instancePath }) => keyword === 'type' && instancePath === '');
  if (part !== 'body' || isNoObject) return invalidFields(describeErrors(errors));
  const missing = errors.filter(({ keyword }) => keyword === 'required');
  if (missing.length !== 1) {
    const problem = missing.length === 0 ? both : neither;
    const forms = ['ids', 'up_to_id'];
    const others = describeErrors(errors).filter(({ field }) => !forms.includes(field));
    return invalidFields([...forms.map((field) => ({ field, ...problem })), ...others]);
  }
  const meant = missing[0]?.params['missingProperty'] === 'ids' ? MarkReadUpTo : MarkReadByIds;
  return invalidFields(
    describeErrors(errors.filter(({ schemaPath }) => schemaPath.startsWith(`${meant.$id}#`))),
  );
}
