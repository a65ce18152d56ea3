import { Readable } from 'node:stream';
import { Type } from '@sinclair/typebox';
import { currentUser } from '../../../http/authentication.ts';
import type { Routes } from '../../../http/route-config.ts';
import { documented, Ref } from '../../../http/schemas.ts';
import { pattern } from '../../../http/text.ts';
import { Notification, UnreadCount } from '../inbox/schemas.ts';
import type { StreamHub } from './stream.ts';

const NotificationStreamData = Type.Union([Ref(Notification), Ref(UnreadCount)], {
  $id: 'NotificationStreamData',
  description:
    'What `data` of an event holds: AnyNotification of a `notification`, UnreadCount of an `unread_count`',
});

const NotificationEvents = Type.Unsafe<Readable>(Ref(NotificationStreamData));

/** Any number is accepted: one beyond the newest notification counts as the newest. */
const StreamHeaders = Type.Object({
  'last-event-id': Type.Optional(
    Type.String({
      ...pattern('^[0-9]{0,20}$', { ko: '숫자만 쓸 수 있습니다.', en: 'Must be decimal digits.' }),
      ...documented({ maxLength: 20 }),
      description:
        'The last `id` that the client received; the stream resumes after it. Anything but decimal digits is a `validation_error`. An empty value counts as no header, a number beyond the newest notification as the newest.',
    }),
  ),
});

const description = `Server-sent events for as long as the client reads them, in the language of the request. \`data\` is JSON: AnyNotification for \`notification\`, UnreadCount for \`unread_count\`.

- \`notification\`: a new notification, within a second, whichever instance caused it.
- \`unread_count\`: at the start, after new notifications, and when notifications are marked as read anywhere.
- A comment every 25 seconds shows that the connection is alive.

Without \`Last-Event-ID\`, the stream begins with the next new notification; with it, the stream resumes after that notification, without gaps or repetition.

The stream lives as long as the session: it outlasts the access token that opened it, and ends within 5 seconds when the session ends (logout, new password, deletion, suspension). It also ends when the server shuts down and when the client does not read for 30 seconds. A user has at most 10 streams: opening another one ends the oldest. To resume, reconnect with the last \`id\` as \`Last-Event-ID\`. A browser's \`EventSource\` cannot send the \`Authorization\` header: use \`fetch\`, or a library built on it.`;

/** The stream of the notifications of the logged-in user. */
export const streamRoutes: Routes<{ streams: StreamHub }> = async (app, { streams }) => {
  // Open streams would keep the server from closing.
  app.addHook('preClose', () => streams.close());

  app.get('/stream/', {
    config: { access: 'user', errors: [] },
    schema: {
      operationId: 'streamNotifications',
      summary: 'Stream notifications',
      description,
      headers: StreamHeaders,
      response: {
        200: {
          description: 'Events, until either side ends the connection',
          content: { 'text/event-stream': { schema: NotificationEvents } },
        },
      },
    },
    handler: async (request, reply) => {
      const { id: userId, sessionId } = currentUser(request);
      const lastEventId = request.headers['last-event-id'];
      reply.headers({
        'content-type': 'text/event-stream; charset=utf-8',
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
  });
};
