import type { Readable } from 'node:stream';
import { type Static, type TSchema, Type } from '@sinclair/typebox';
import { Page, PageQuery } from '../../../http/pagination.ts';
import {
  BigId,
  Body,
  documented,
  Flag,
  Id,
  Int32,
  Message,
  NamedEnum,
  NamedObject,
  Ref,
  StringEnum,
  Timestamp,
} from '../../../http/schemas.ts';
import { pattern } from '../../../http/text.ts';
import type { NotificationKind } from '../../../infrastructure/database/generated/enums.ts';
import { requestFields } from '../../partner-requests/index.ts';
import { PostSummary } from '../../posts/index.ts';
import { StoreSummary } from '../../stores/index.ts';

const unreadCount = Int32('All unread notifications of the user, not only those on this page', 3);

/** What happened to a request, apart from matches of saved searches. */
export type PartnershipKind = Exclude<NotificationKind, 'saved_search_match'>;

const PartnershipNotificationKind = NamedEnum<PartnershipKind>(
  'PartnershipNotificationKind',
  'What happened to the request',
  {
    partner_request_received: 'A store sent a request to the user',
    partner_request_accepted: 'The receiver accepted a request of the user',
    partner_request_declined: 'The receiver declined a request of the user',
    partner_request_withdrawn:
      'The sender withdrew a request to the user, or the post or an account was deleted',
    partner_request_ended: 'The other store ended an accepted request, or its account was deleted',
  },
  { examples: ['partner_request_received'] },
);

const NotificationPartnerRequest = NamedObject(
  'NotificationPartnerRequest',
  'The request as it is now',
  requestFields,
);

/** @param example of its sentence */
const notificationFields = <Kind extends TSchema>(kind: Kind, example: string) => ({
  id: BigId('Newer notifications of a user have larger ids'),
  kind,
  message: Message('A sentence in the language of the response', example),
  is_read: Flag('Whether the user marked it as read', false),
  created_at: Timestamp('When it happened'),
});

const PartnershipNotification = NamedObject(
  'PartnershipNotification',
  'Something that happened to a partnership request of the user',
  {
    ...notificationFields(
      Ref(PartnershipNotificationKind),
      '두레 베이커리에서 ‘주말 공동 할인 함께하실 가게를 찾아요’ 글을 보고 제휴를 요청했습니다.',
    ),
    partner_request: Ref(NotificationPartnerRequest),
  },
);

const PostNotification = NamedObject(
  'PostNotification',
  'A new post that the user may want to see, and its store, as they are now. A post that was deleted or hidden keeps its title, and has the thumbnail of one without images.',
  {
    ...notificationFields(
      StringEnum(['saved_search_match'], { description: 'The post matches a saved search of the user' }),
      '햇살카페에서 저장하신 검색 조건에 맞는 ‘주말 공동 할인 함께하실 가게를 찾아요’ 글을 올렸습니다.',
    ),
    post: Ref(PostSummary),
    store: Ref(StoreSummary),
    saved_search_id: Id('The saved search, which may have been deleted since'),
  },
);

export const Notification = Type.Unsafe<
  Static<typeof PartnershipNotification> | Static<typeof PostNotification>
>({
  // `Notification` is a class of browsers, Swift and Kotlin.
  $id: 'AnyNotification',
  description: 'A notification; `kind` tells which of the two it is',
  oneOf: [Ref(PartnershipNotification), Ref(PostNotification)],
});
export type Notification = Static<typeof Notification>;

export const NotificationQuery = Type.Object({
  is_read: Type.Optional(Flag('Only read or only unread notifications')),
  ...PageQuery,
});

export const NotificationPage = Page('NotificationPage', Ref(Notification), { unread_count: unreadCount });

export const MarkReadByIds = Body('MarkReadByIds', 'Single notifications', {
  ids: Type.Array(BigId('`id` of a notification'), {
    minItems: 1,
    maxItems: 100,
    description: 'These notifications; those of other users are ignored',
    examples: [[1, 2]],
  }),
});

export const MarkReadUpTo = Body('MarkReadUpTo', 'All notifications up to one', {
  up_to_id: BigId('This notification and all older ones'),
});

export const NotificationsToMark = Type.Unsafe<Static<typeof MarkReadByIds> | Static<typeof MarkReadUpTo>>({
  $id: 'NotificationsToMark',
  description: 'Either single notifications, or all up to one',
  oneOf: [Ref(MarkReadByIds), Ref(MarkReadUpTo)],
});
export type NotificationsToMark = Static<typeof NotificationsToMark>;

export const ReadCount = NamedObject('ReadCount', 'What was marked, and what is left', {
  updated_count: Int32('How many notifications this request marked as read', 2),
  unread_count: unreadCount,
});

export const UnreadCount = NamedObject('UnreadCount', 'How many notifications are unread', {
  unread_count: unreadCount,
});

const NotificationStreamData = Type.Union([Ref(Notification), Ref(UnreadCount)], {
  $id: 'NotificationStreamData',
  description:
    'What `data` of an event holds: AnyNotification of a `notification`, UnreadCount of an `unread_count`',
});

/** The handler sends a stream of these events. */
export const NotificationEvents = Type.Unsafe<Readable>(Ref(NotificationStreamData));

/** Any number is accepted: one beyond the newest notification counts as the newest. */
export const StreamHeaders = Type.Object({
  'last-event-id': Type.Optional(
    Type.String({
      ...pattern('^[0-9]{0,20}$', { ko: '숫자만 쓸 수 있습니다.', en: 'Must be decimal digits.' }),
      ...documented({ maxLength: 20 }),
      description:
        'The last `id` that the client received; the stream resumes after it. Anything but decimal digits is a `validation_error`. An empty value counts as no header, a number beyond the newest notification as the newest.',
      examples: ['1'],
    }),
  ),
});
