import type { Readable } from 'node:stream';
import { Type } from '@sinclair/typebox';
import { Ref } from '../../http/schemas.ts';
import { pattern } from '../../http/text.ts';
import { Notification, UnreadCount } from '../schemas.ts';

const StreamedNotification = Type.Object(
  {
    event: Type.Literal('notification'),
    id: Type.String({ description: '`id` of the notification', examples: ['1'] }),
    data: Ref(Notification),
  },
  { $id: 'StreamedNotification', description: 'A new notification' },
);

const StreamedUnreadCount = Type.Object(
  {
    event: Type.Literal('unread_count'),
    id: Type.Optional(
      Type.String({
        description: 'Only in the first event of a stream: from where to resume until a notification arrives',
        examples: ['1'],
      }),
    ),
    retry: Type.Optional(
      Type.Integer({
        description: 'Only in the first event: milliseconds to wait before reconnecting',
        examples: [3000],
      }),
    ),
    data: Ref(UnreadCount),
  },
  { $id: 'StreamedUnreadCount', description: 'How many notifications are unread now' },
);

const NotificationStreamEvent = Type.Union([Ref(StreamedNotification), Ref(StreamedUnreadCount)], {
  $id: 'NotificationStreamEvent',
  description: 'One event: the fields of its block, with `data` parsed',
});

/** Registered by `$id`, so that the OpenAPI document names them. */
export const streamSchemas = [StreamedNotification, StreamedUnreadCount, NotificationStreamEvent];

/** The handler sends a stream of these events. */
export const NotificationEvents = Type.Unsafe<Readable>({ $ref: `${NotificationStreamEvent.$id}#` });

/** Any number is accepted: one beyond the newest notification counts as the newest. */
export const StreamHeaders = Type.Object({
  'last-event-id': Type.Optional(
    Type.String({
      ...pattern('^[0-9]{0,20}$', { ko: '숫자만 쓸 수 있습니다.', en: 'Must be decimal digits.' }),
      description:
        'The last `id` that the client received; the stream resumes after it. Anything but decimal digits is a `validation_error`. An empty value counts as no header, a number beyond the newest notification as the newest.',
      examples: ['1'],
    }),
  ),
});
