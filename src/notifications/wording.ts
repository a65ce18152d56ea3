import type { Language, Text } from '../http/language.ts';
import type { NotificationKind } from './schemas.ts';

interface NotificationFacts {
  kind: NotificationKind;
  post_title: string;
  sender_store_name: string;
  receiver_store_name: string;
  /** Whether it tells the sender of the request; else the receiver. */
  to_sender: boolean;
}

/**
 * What a notification says. Names and titles are followed by 에서 or ‘’ only, which do not change with the last letter before
 * them. A receiver's side withdraws nothing by itself: where the sender hears of it, the post is gone.
 */
export function notificationMessage(facts: NotificationFacts, language: Language): string {
  return sentences(facts)[language];
}

function sentences(facts: NotificationFacts): Text {
  const { kind, post_title: title, sender_store_name: sender, receiver_store_name: receiver } = facts;
  switch (kind) {
    case 'partner_request_received':
      return {
        ko: `${sender}에서 ‘${title}’ 글에 제휴를 요청했습니다.`,
        en: `${sender} sent you a partnership request for “${title}”.`,
      };
    case 'partner_request_accepted':
      return {
        ko: `${receiver}에서 ‘${title}’ 글에 보낸 제휴 요청을 수락했습니다.`,
        en: `${receiver} accepted your partnership request for “${title}”.`,
      };
    case 'partner_request_declined':
      return {
        ko: `${receiver}에서 ‘${title}’ 글에 보낸 제휴 요청을 거절했습니다.`,
        en: `${receiver} declined your partnership request for “${title}”.`,
      };
    case 'partner_request_withdrawn':
      return facts.to_sender
        ? {
            ko: `${receiver}에서 올린 ‘${title}’ 글이 삭제되어 제휴 요청이 취소되었습니다.`,
            en: `Your partnership request for “${title}” was withdrawn because ${receiver} removed the post.`,
          }
        : {
            ko: `${sender}에서 ‘${title}’ 글에 보낸 제휴 요청이 취소되었습니다.`,
            en: `The partnership request of ${sender} for “${title}” was withdrawn.`,
          };
  }
}
