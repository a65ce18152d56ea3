import { type IntegerOptions, type Static, Type } from '@sinclair/typebox';
import { NotificationKind } from '../database/generated/enums.ts';
import { Page, PageQuery } from '../http/pagination.ts';
import { Int32, NamedEnum, Ref, Timestamp } from '../http/schemas.ts';
import { PartnerRequestStatus, requestFields } from '../partner-requests/schemas.ts';

const unreadCount = Int32({
  minimum: 0,
  description: 'All unread notifications of the user, not only those on this page',
  examples: [3],
});
const notificationId = (options: IntegerOptions) =>
  Type.Integer({ format: 'int64', examples: [1], ...options });
const exampleSentence =
  '두레 베이커리에서 ‘주말 공동 할인 함께하실 가게를 찾아요’ 글을 보고 제휴를 요청했습니다.';

const NotificationKindSchema = NamedEnum(
  'NotificationKind',
  [
    {
      value: NotificationKind.partner_request_received,
      name: 'PARTNER_REQUEST_RECEIVED',
      description: 'A store sent a request to the user',
    },
    {
      value: NotificationKind.partner_request_accepted,
      name: 'PARTNER_REQUEST_ACCEPTED',
      description: 'The receiver accepted a request of the user',
    },
    {
      value: NotificationKind.partner_request_declined,
      name: 'PARTNER_REQUEST_DECLINED',
      description: 'The receiver declined a request of the user',
    },
    {
      value: NotificationKind.partner_request_withdrawn,
      name: 'PARTNER_REQUEST_WITHDRAWN',
      description: 'The sender withdrew a request to the user, or the post or an account was deleted',
    },
    {
      value: NotificationKind.partner_request_ended,
      name: 'PARTNER_REQUEST_ENDED',
      description: 'The other store ended an accepted request, or its account was deleted',
    },
  ],
  { description: 'What happened', examples: [NotificationKind.partner_request_received] },
);

/** A partnership request inside a notification. */
const NotificationPartnerRequest = Type.Object(requestFields, {
  $id: 'NotificationPartnerRequest',
  description: 'The request as it is now',
});

/** Something that happened to a request of the user's store. */
export const Notification = Type.Object(
  {
    id: notificationId({ description: 'Newer notifications of a user have larger ids' }),
    kind: Ref(NotificationKindSchema),
    message: Type.String({
      description: 'A sentence in the language of the answer',
      examples: [exampleSentence],
    }),
    is_read: Type.Boolean({ description: 'Whether the user marked it as read', examples: [false] }),
    created_at: Timestamp('When it happened'),
    partner_request: Ref(NotificationPartnerRequest),
  },
  // `Notification` is a class of browsers, Swift and Kotlin.
  {
    $id: 'PartnershipNotification',
    description: 'Something that happened to a partnership request of the user',
  },
);
export type Notification = Static<typeof Notification>;

export const NotificationQuery = Type.Object({
  is_read: Type.Optional(Type.Boolean({ description: 'Only read or only unread notifications' })),
  ...PageQuery,
});

export const NotificationPage = Page('NotificationPage', Ref(Notification), { unread_count: unreadCount });

/** The column has 64 bits; a number of JSON is exact up to here only. */
const largestId = Number.MAX_SAFE_INTEGER;

export const MarkReadByIds = Type.Object(
  {
    ids: Type.Array(
      notificationId({ minimum: 1, maximum: largestId, description: '`id` of a notification' }),
      {
        minItems: 1,
        maxItems: 100,
        description: 'These notifications; those of other users are ignored',
        examples: [[1, 2]],
      },
    ),
  },
  { $id: 'MarkReadByIds', description: 'Single notifications', additionalProperties: false },
);

export const MarkReadUpTo = Type.Object(
  {
    up_to_id: notificationId({
      minimum: 1,
      maximum: largestId,
      description: 'This notification and all older ones',
    }),
  },
  { $id: 'MarkReadUpTo', description: 'All notifications up to one', additionalProperties: false },
);

export const NotificationsToMark = Type.Unsafe<Static<typeof MarkReadByIds> | Static<typeof MarkReadUpTo>>({
  $id: 'NotificationsToMark',
  description: 'Either single notifications, or all up to one',
  oneOf: [{ $ref: 'MarkReadByIds#' }, { $ref: 'MarkReadUpTo#' }],
});
export type NotificationsToMark = Static<typeof NotificationsToMark>;

export const ReadCount = Type.Object(
  {
    updated_count: Int32({
      minimum: 0,
      description: 'How many notifications this request marked as read',
      examples: [2],
    }),
    unread_count: unreadCount,
  },
  { $id: 'ReadCount', description: 'What was marked, and what is left' },
);

export const UnreadCount = Type.Object(
  { unread_count: unreadCount },
  { $id: 'UnreadCount', description: 'How many notifications are unread' },
);

/** Documents the header of an answer that can be asked for conditionally. */
export const entityTagHeader = {
  ETag: Type.String({ description: 'Of this answer: send it as `If-None-Match`', examples: ['"3-ko"'] }),
};

/** Registered by `$id`, so that the OpenAPI document names them. */
export const notificationSchemas = [
  PartnerRequestStatus,
  NotificationKindSchema,
  NotificationPartnerRequest,
  Notification,
  NotificationPage,
  MarkReadByIds,
  MarkReadUpTo,
  NotificationsToMark,
  ReadCount,
  UnreadCount,
];
