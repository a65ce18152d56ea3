import { type Static, type TSchema, Type } from '@sinclair/typebox';
import type { Language } from '../../../http/language.ts';
import { Page, PageQuery } from '../../../http/pagination.ts';
import * as t from '../../../http/schemas.ts';
import { type InJson, toUtc } from '../../../infrastructure/times.ts';
import type { ImageUrls } from '../../images/index.ts';
import {
  type PartnerRequestKind,
  partnerRequestKinds,
  requestFields,
  requestPage,
} from '../../partner-requests/index.ts';
import { PostSummary, partnerRequestStatuses, toPostSummary } from '../../posts/index.ts';
import { digestPage, matchPage, savedSearchKinds } from '../../saved-searches/index.ts';
import { StoreSummary } from '../../stores/index.ts';
import type { NotificationRow } from './repository.ts';

const unreadCount = t.Int32('All unread notifications of the user, not only those on this page');

const descriptions = Object.entries(partnerRequestKinds).map(([kind, { description }]) => [
  kind,
  description,
]);

const PartnerRequestEvent = Type.Unsafe<PartnerRequestKind>(
  t.NamedEnum('PartnerRequestEvent', 'What happened to the request', Object.fromEntries(descriptions)),
);

const NotificationPartnerRequest = t.NamedObject(
  'NotificationPartnerRequest',
  'The request as it is now',
  requestFields,
);
export type NotificationPartnerRequest = Static<typeof NotificationPartnerRequest>;

const notificationFields = <Kind extends TSchema>(kind: Kind) => ({
  id: t.BigId('Newer notifications of a user have larger ids'),
  kind,
  message: t.Message('A sentence in the language of the response'),
  is_read: t.Flag('Whether the user marked it as read'),
  created_at: t.Timestamp('When it happened'),
});

const fieldsOf = <const Kind extends keyof typeof savedSearchKinds>(kind: Kind) =>
  notificationFields(t.StringEnum([kind], { description: savedSearchKinds[kind].description }));

const PartnershipNotification = t.NamedObject(
  'PartnershipNotification',
  'Something that happened to a partnership request of the user',
  { ...notificationFields(t.Ref(PartnerRequestEvent)), partner_request: t.Ref(NotificationPartnerRequest) },
);

const PostNotification = t.NamedObject(
  'PostNotification',
  'A new post that the user may want to see, and its store, as they are now. A post that was deleted or hidden keeps its title, and has the thumbnail of one without images.',
  {
    ...fieldsOf('saved_search_match'),
    post: t.Ref(PostSummary),
    store: t.Ref(StoreSummary),
    saved_search_id: t.Id('The saved search, which may have been deleted since'),
  },
);

const DigestNotification = t.NamedObject(
  'DigestNotification',
  'New posts that match saved searches of the user, beyond those of one day that have a notification each; at most one a day, at 19:00 in Korea',
  { ...fieldsOf('saved_search_digest'), count: t.Int32('How many posts') },
);

export const Notification = t.OneOf(
  // `Notification` is a class of browsers, Swift and Kotlin.
  'AnyNotification',
  'A notification; `kind` tells which of the three it is',
  [PartnershipNotification, PostNotification, DigestNotification],
);
export type Notification = Static<typeof Notification>;

export const NotificationQuery = Type.Object({
  is_read: Type.Optional(t.Flag('Only read or only unread notifications')),
  ...PageQuery,
});

export const NotificationPage = Page('NotificationPage', t.Ref(Notification), { unread_count: unreadCount });

export const MarkReadByIds = t.Body('MarkReadByIds', 'Single notifications', {
  ids: Type.Array(t.BigId('`id` of a notification'), {
    minItems: 1,
    maxItems: 100,
    description: 'These notifications; those of other users are ignored',
  }),
});

export const MarkReadUpTo = t.Body('MarkReadUpTo', 'All notifications up to one', {
  up_to_id: t.BigId('This notification and all older ones'),
});

export const NotificationsToMark = t.OneOf(
  'NotificationsToMark',
  'Either single notifications, or all up to one',
  [MarkReadByIds, MarkReadUpTo],
);
export type NotificationsToMark = Static<typeof NotificationsToMark>;

export const ReadCount = t.NamedObject('ReadCount', 'What was marked, and what is left', {
  updated_count: t.Int32('How many notifications this request marked as read'),
  unread_count: unreadCount,
});

export const UnreadCount = t.NamedObject('UnreadCount', 'How many notifications are unread', {
  unread_count: unreadCount,
});

/** A notification as the API shows it, with its sentence in a language. */
export function toNotification(
  row: NotificationRow | InJson<NotificationRow>,
  language: Language,
  imageUrls: ImageUrls,
): Notification {
  const { id, isRead: is_read } = row;
  const shared = { message: describe(row).sentence[language], is_read, created_at: toUtc(row.createdAt) };
  if (row.kind === 'saved_search_digest') return { id, kind: row.kind, ...shared, count: row.matches };
  if (row.kind === 'saved_search_match') {
    const { savedSearchId, post, store } = row.match;
    const summary = toPostSummary(post, store, imageUrls);
    return { id, kind: row.kind, ...shared, post: summary, store, saved_search_id: savedSearchId };
  }
  const partner_request = { ...row.request, status: partnerRequestStatuses[row.request.status] };
  return { id, kind: row.kind, ...shared, partner_request };
}

/** What is pushed to the browsers of a user. */
export type PushMessage = ReturnType<typeof toPushMessage>;
/** A notification for the service worker of the frontend, whose page about it has the URL. */
export function toPushMessage(row: NotificationRow, language: Language, frontendUrl: string) {
  const { id, kind } = row;
  const { title, sentence, page } = describe(row);
  return { id, kind, title: title[language], body: sentence[language], url: `${frontendUrl}/${page}` };
}

/** What the definition of its kind says about a notification. */
export function describe(row: NotificationRow | InJson<NotificationRow>) {
  if (row.kind === 'saved_search_match') {
    const { topic, title, sentence } = savedSearchKinds[row.kind];
    return { topic, title, sentence: sentence(row.match), page: matchPage(row.match.post.id) };
  }
  if (row.kind === 'saved_search_digest') {
    const { topic, title, sentence } = savedSearchKinds[row.kind];
    return { topic, title, sentence: sentence(row.matches), page: digestPage };
  }
  const { id, post_title, sender_store_name, receiver_store_name } = row.request;
  const otherStore = row.toSender ? receiver_store_name : sender_store_name;
  const { topic, title, sentence } = partnerRequestKinds[row.kind];
  return { topic, title, sentence: sentence(otherStore, post_title, row.toSender), page: requestPage(id) };
}
