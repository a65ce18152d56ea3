import type { Language, LocalizedText } from '../../../http/language.ts';
import { type InJson, toUtc } from '../../../infrastructure/database/json-times.ts';
import type { ImageUrls } from '../../images/index.ts';
import { partnerRequestStatuses, toPostSummary } from '../../posts/index.ts';
import type { NotificationRow } from './rows.ts';
import type { Notification } from './schemas.ts';

/** A notification as the API shows it, with its sentence in a language. */
export function toNotification(
  row: NotificationRow | InJson<NotificationRow>,
  language: Language,
  imageUrls: ImageUrls,
): Notification {
  const { id, isRead: is_read } = row;
  const shared = { message: sentences(row)[language], is_read, created_at: toUtc(row.createdAt) };
  if (row.kind === 'saved_search_match') {
    const { savedSearchId, post, store } = row.match;
    const summary = toPostSummary(post, store, imageUrls);
    return { id, kind: row.kind, ...shared, post: summary, store, saved_search_id: savedSearchId };
  }
  return {
    id,
    kind: row.kind,
    ...shared,
    partner_request: {
      id: row.requestId,
      post_id: row.postId,
      post_title: row.postTitle,
      status: partnerRequestStatuses[row.status],
      sender_store_id: row.senderStoreId,
      sender_store_name: row.senderStoreName,
      receiver_store_id: row.receiverStoreId,
      receiver_store_name: row.receiverStoreName,
      message: row.message,
    },
  };
}

/** What is pushed to the browsers of a user. */
export type PushMessage = ReturnType<typeof toPushMessage>;

/** A notification for the service worker of the frontend, whose page about it has the URL. */
export function toPushMessage(row: NotificationRow, language: Language, frontendUrl: string) {
  const { id, kind } = row;
  const page = row.kind === 'saved_search_match' ? `posts/${row.match.post.id}` : `requests/${row.requestId}`;
  const title = titles[kind][language];
  return { id, kind, title, body: sentences(row)[language], url: `${frontendUrl}/${page}` };
}

const titles: Record<NotificationRow['kind'], LocalizedText> = {
  partner_request_received: { ko: '새 제휴 요청', en: 'New partnership request' },
  partner_request_accepted: { ko: '제휴 요청 수락', en: 'Request accepted' },
  partner_request_declined: { ko: '제휴 요청 거절', en: 'Request declined' },
  partner_request_withdrawn: { ko: '제휴 요청 취소', en: 'Request withdrawn' },
  partner_request_ended: { ko: '제휴 종료', en: 'Partnership ended' },
  saved_search_match: { ko: '저장한 검색에 맞는 새 글', en: 'New post for your saved search' },
};

/**
 * What a notification says. Names and titles are followed only by 에서 or ’, which do not change with the letter before them. A
 * receiver cannot withdraw a request: when its sender is notified of a withdrawal, the post was deleted.
 */
function sentences(row: NotificationRow | InJson<NotificationRow>): LocalizedText {
  if (row.kind === 'saved_search_match') {
    const { store, post } = row.match;
    return {
      ko: `${store.name}에서 저장하신 검색 조건에 맞는 ‘${post.title}’ 글을 올렸습니다.`,
      en: `${store.name} published “${post.title}”, which matches your saved search.`,
    };
  }
  const { kind, postTitle: title, senderStoreName: sender, receiverStoreName: receiver } = row;
  switch (kind) {
    case 'partner_request_received':
      return {
        ko: `${sender}에서 ‘${title}’ 글을 보고 제휴를 요청했습니다.`,
        en: `${sender} would like to partner with you on your post “${title}”.`,
      };
    case 'partner_request_accepted':
      return {
        ko: `‘${title}’ 글에 보내신 제휴 요청을 ${receiver}에서 수락했습니다.`,
        en: `${receiver} accepted your partnership request for “${title}”.`,
      };
    case 'partner_request_declined':
      return {
        ko: `‘${title}’ 글에 보내신 제휴 요청을 ${receiver}에서 거절했습니다.`,
        en: `${receiver} declined your partnership request for “${title}”.`,
      };
    case 'partner_request_withdrawn':
      return row.toSender
        ? {
            ko: `${receiver}에서 올린 ‘${title}’ 글이 삭제되어 제휴 요청이 취소되었습니다.`,
            en: `Your partnership request for “${title}” was withdrawn because ${receiver} deleted the post.`,
          }
        : {
            ko: `${sender}에서 ‘${title}’ 글에 보낸 제휴 요청을 취소했습니다.`,
            en: `${sender} withdrew its request for your post “${title}”.`,
          };
    case 'partner_request_ended': {
      const other = row.toSender ? receiver : sender;
      return {
        ko: `${other}에서 ‘${title}’ 글로 맺은 제휴를 종료했습니다.`,
        en: `${other} ended your partnership from the post “${title}”.`,
      };
    }
  }
}
