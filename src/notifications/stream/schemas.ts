import type { Readable } from 'node:stream';
import { Type } from '@sinclair/typebox';
import { Ref } from '../../http/schemas.ts';
import { pattern } from '../../http/text.ts';
import { Notification, UnreadCount } from '../schemas.ts';

const NotificationStreamData = Type.Union([Ref(Notification), Ref(UnreadCount)], {
  $id: 'NotificationStreamData',
  description:
    'What `data` of an event holds: PartnershipNotification of a `notification`, UnreadCount of an `unread_count`',
});

/** Registered by `$id`, so that the OpenAPI document names them. */
export const streamSchemas = [NotificationStreamData];

/** The handler sends a stream of these events. */
export const NotificationEvents = Type.Unsafe<Readable>({ $ref: `${NotificationStreamData.$id}#` });

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
