import { type Static, Type } from '@sinclair/typebox';
import { PageQuery } from '../http/pagination.ts';
import { Id, OneOf, Reference, Timestamp } from '../http/schemas.ts';
import { Text } from '../http/text.ts';
import { StoreSummary } from '../stores/schemas.ts';

export const partnerRequestStates = ['requested', 'accepted', 'declined', 'withdrawn'] as const;
export type PartnerRequestState = (typeof partnerRequestStates)[number];

/** What the database calls the states of a request, to what the API calls them. */
export const partnerRequestStatuses = {
  requested: '요청됨',
  accepted: '수락됨',
  declined: '거절됨',
  withdrawn: '취소됨',
} as const satisfies Record<PartnerRequestState, string>;

const status = (description: string) => OneOf(Object.values(partnerRequestStatuses), { description });
const requestStatus = status(
  '`요청됨` (requested) becomes `수락됨` (accepted) or `거절됨` (declined) by the receiver, or `취소됨` (withdrawn) by the sender or because the post or an account went away',
);

const exampleMessage = '저희 빵을 카페에서 함께 팔아 보시겠어요?';
const requestId = Type.Integer({ examples: [1] });
const postId = Type.Integer({ description: 'The post that the request answers', examples: [1] });
const postTitle = Type.String({ examples: ['주말 공동 할인 함께 하실 가게를 찾아요'] });
const senderStoreName = Type.String({ description: 'The store that asks', examples: ['두레 베이커리'] });
const receiverStoreName = Type.String({
  description: 'The store that wrote the post',
  examples: ['햇살카페'],
});
const message = Type.String({ description: 'What the sender wrote', examples: [exampleMessage] });

export const NewPartnerRequest = Type.Object(
  {
    post_id: Id('The post to answer; it must belong to another store'),
    message: Text('block', {
      minLength: 1,
      maxLength: 1000,
      description: 'May hold line feeds',
      examples: [exampleMessage],
    }),
  },
  { $id: 'NewPartnerRequest', additionalProperties: false },
);
export type NewPartnerRequest = Static<typeof NewPartnerRequest>;

/** A request as its sender sees it: exactly the fields of the interface specification. */
export const PartnerRequest = Type.Object(
  {
    id: requestId,
    post_id: postId,
    receiver_store_name: receiverStoreName,
    status: requestStatus,
    message,
    created_at: Timestamp('When it was sent'),
  },
  { $id: 'PartnerRequest', description: 'A partnership request as its sender sees it' },
);
export type PartnerRequest = Static<typeof PartnerRequest>;

/** A request as its receiver sees it. */
export const ReceivedPartnerRequest = Type.Object(
  {
    id: requestId,
    post_id: postId,
    post_title: postTitle,
    sender_store: Reference(StoreSummary),
    status: requestStatus,
    message,
    created_at: Timestamp('When it was sent'),
  },
  { $id: 'ReceivedPartnerRequest', description: 'A partnership request as its receiver sees it' },
);
export type ReceivedPartnerRequest = Static<typeof ReceivedPartnerRequest>;

export const PartnerRequestQuery = Type.Object({
  box: OneOf(['sent', 'received'], {
    default: 'received',
    description: '`sent` lists PartnerRequest, `received` ReceivedPartnerRequest',
  }),
  status: Type.Optional(status('Only requests in this state')),
  ...PageQuery,
});

export const notificationKinds = [
  'partner_request_received',
  'partner_request_accepted',
  'partner_request_declined',
  'partner_request_withdrawn',
] as const;
export type NotificationKind = (typeof notificationKinds)[number];

const unreadCount = Type.Integer({
  minimum: 0,
  description: 'All notifications of the user that are not read, on every page',
  examples: [3],
});
const exampleSentence =
  '두레 베이커리에서 ‘주말 공동 할인 함께 하실 가게를 찾아요’ 글에 제휴를 요청했습니다.';

/** Something that happened to a request of the user's store. */
export const Notification = Type.Object(
  {
    id: Type.Integer({ description: 'Newer notifications of a user have larger ids', examples: [1] }),
    kind: OneOf(notificationKinds, {
      description:
        '`_received` tells the receiver of a new request, `_accepted` and `_declined` tell the sender of the answer, `_withdrawn` tells the other side that it was withdrawn',
    }),
    message: Type.String({
      description: 'A sentence in the language of the answer',
      examples: [exampleSentence],
    }),
    is_read: Type.Boolean(),
    created_at: Timestamp('When it happened'),
    partner_request: Type.Object(
      {
        id: requestId,
        post_id: postId,
        post_title: postTitle,
        status: requestStatus,
        sender_store_name: senderStoreName,
        receiver_store_name: receiverStoreName,
        message,
      },
      { description: 'The request as it is now' },
    ),
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
    items: Type.Array(Reference(Notification)),
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
      description: 'These notifications; ids of others are ignored',
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
      description: 'How many became read by this request',
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
  NewPartnerRequest,
  PartnerRequest,
  ReceivedPartnerRequest,
  Notification,
  NotificationPage,
  MarkReadByIds,
  MarkReadUpTo,
  MarkReadRequest,
  ReadCount,
  UnreadCount,
];
