import { type Static, Type } from '@sinclair/typebox';
import { NotificationKind } from '../database/generated/enums.ts';
import { PageQuery } from '../http/pagination.ts';
import { Ref, StringEnum, Timestamp } from '../http/schemas.ts';
import { requestFields } from '../partner-requests/schemas.ts';

const unreadCount = Type.Integer({
  minimum: 0,
  description: 'All unread notifications of the user, not only those on this page',
  examples: [3],
});
const exampleSentence =
  '두레 베이커리에서 ‘주말 공동 할인 함께하실 가게를 찾아요’ 글을 보고 제휴를 요청했습니다.';

/** Something that happened to a request of the user's store. */
export const Notification = Type.Object(
  {
    id: Type.Integer({ description: 'Newer notifications of a user have larger ids', examples: [1] }),
    kind: StringEnum(Object.values(NotificationKind), {
      description:
        '`_received`: a new request, for its receiver; `_accepted` and `_declined`: the answer, for the sender; `_withdrawn`: it was withdrawn, for the other side',
    }),
    message: Type.String({
      description: 'A sentence in the language of the answer',
      examples: [exampleSentence],
    }),
    is_read: Type.Boolean(),
    created_at: Timestamp('When it happened'),
    partner_request: Type.Object(requestFields, { description: 'The request as it is now' }),
  },
  { $id: 'Notification', description: 'Something that happened to a partnership request of the user' },
);
export type Notification = Static<typeof Notification>;

export const NotificationQuery = Type.Object({
  is_read: Type.Optional(Type.Boolean({ description: 'Only read or only unread notifications' })),
  ...PageQuery,
});

export const NotificationPage = Type.Object(
  {
    items: Type.Array(Ref(Notification)),
    next_cursor: Type.Union([Type.String(), Type.Null()], { description: 'Opaque; `null` on the last page' }),
    unread_count: unreadCount,
  },
  { $id: 'NotificationPage' },
);

/** The column has 64 bits; a number of JSON is exact up to here only. */
const notificationId = (description: string) =>
  Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description, examples: [1] });

export const MarkReadByIds = Type.Object(
  {
    ids: Type.Array(notificationId('`id` of a notification'), {
      minItems: 1,
      maxItems: 100,
      description: 'These notifications; those of other users are ignored',
      examples: [[1, 2]],
    }),
  },
  { $id: 'MarkReadByIds', additionalProperties: false },
);

export const MarkReadUpTo = Type.Object(
  { up_to_id: notificationId('This notification and all older ones') },
  { $id: 'MarkReadUpTo', additionalProperties: false },
);

export const MarkReadRequest = Type.Unsafe<Static<typeof MarkReadByIds> | Static<typeof MarkReadUpTo>>({
  $id: 'MarkReadRequest',
  description: 'Either single notifications, or all up to one',
  oneOf: [{ $ref: 'MarkReadByIds#' }, { $ref: 'MarkReadUpTo#' }],
});
export type MarkReadRequest = Static<typeof MarkReadRequest>;

export const ReadCount = Type.Object(
  {
    updated_count: Type.Integer({
      minimum: 0,
      description: 'How many notifications this request marked as read',
      examples: [2],
    }),
    unread_count: unreadCount,
  },
  { $id: 'ReadCount' },
);

export const UnreadCount = Type.Object({ unread_count: unreadCount }, { $id: 'UnreadCount' });

/** Documents the header of an answer that can be asked for conditionally. */
export const entityTagHeader = {
  ETag: Type.String({ description: 'Send it as `If-None-Match`', examples: ['"3-ko"'] }),
};

/** Registered by `$id`, so that the OpenAPI document names them. */
export const notificationSchemas = [
  Notification,
  NotificationPage,
  MarkReadByIds,
  MarkReadUpTo,
  MarkReadRequest,
  ReadCount,
  UnreadCount,
];
