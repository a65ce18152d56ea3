import type { Language, LocalizedText } from '../../http/language.ts';
import type { Config } from '../../infrastructure/config/config.ts';
import type { Database } from '../../infrastructure/database/client.ts';
import type {
  MailTopic,
  NotificationKind,
  PartnerRequestStatus,
} from '../../infrastructure/database/generated/enums.ts';
import { type Block, button, note, quote, writeMail } from '../../infrastructure/mail/content.ts';
import type { MailPayload } from '../../infrastructure/mail/queue.ts';
import type { MailComposers } from '../../infrastructure/mail/sending.ts';
import { findForMail } from './repository/requests.ts';

/** What recipients of emails and push messages switch on and off: the name, and what the API says about either. */
export const partnerRequestTopics = {
  partner_request_received: {
    name: { ko: '새로운 제휴 요청', en: 'new partnership requests' },
    email: 'A new partnership request',
    push: 'A new partnership request',
  },
  partner_request_answered: {
    name: { ko: '제휴 요청에 대한 답변', en: 'answers to your partnership requests' },
    email: 'A request was accepted or declined',
    push: 'A request was accepted or declined',
  },
  partner_request_ended: {
    name: { ko: '제휴 종료', en: 'partnerships that have ended' },
    // A withdrawal sends no email.
    email: 'The other side ended a partnership',
    push: 'The other side ended a partnership or withdrew a request',
  },
};

export type PartnerRequestKind = Extract<NotificationKind, `partner_request_${string}`>;

/** What an email about a request depends on; the store is the other side. */
type MailFields = Record<'name' | 'storeName' | 'postTitle' | 'message' | 'url', string> & {
  toSender: boolean;
};
/** An email in one language: its heading, which says first what has happened in the subject, too, and its parts. */
type MailText = (sentence: string, mail: MailFields) => [heading: string, ...Block[]];
type MailTexts = Record<Language, MailText>;

interface Kind {
  /** What has happened, for the description of the API. */
  description: string;
  topic: MailTopic;
  /** Of the push message, whose text is the sentence, as is that of the notification. */
  title: LocalizedText;
  /** @param toSender whether the recipient is the sender of the request; else the receiver */
  sentence(otherStore: string, postTitle: string, toSender: boolean): LocalizedText;
}

/** A kind that has an email, too. `status`: of the request while the email tells of it. */
function mailedKind({ status, ko, en, ...rest }: Kind & MailTexts & { status: PartnerRequestStatus }) {
  const inLanguage =
    (language: Language, write: MailText, brand: string, title: string) => (mail: MailFields) => {
      const { storeName, postTitle, toSender } = mail;
      const [heading, ...blocks] = write(rest.sentence(storeName, postTitle, toSender)[language], mail);
      const subject = `${brand} ${heading} · ${storeName}`;
      return { subject, preheader: `${title}: ${postTitle}`, heading, blocks };
    };
  return {
    ...rest,
    status,
    cap: { purpose: 'partner_request', perHour: 60 },
    reason: {
      ko: '두레에 등록하신 가게의 제휴 소식을 알려 드리는 메일입니다.',
      en: 'You are receiving this email because your shop is registered with Dure.',
    },
    ko: inLanguage('ko', ko, '[두레]', '글 제목'),
    en: inLanguage('en', en, 'Dure:', 'Post'),
  } as const;
}

/** The path of the page about a request. */
export const requestPage = (id: number) => `requests/${id}`;

/** Names and titles are followed only by 님, 에서, ’ or a word of its own, because other particles depend on the letter before them. */
export const partnerRequestKinds = {
  partner_request_received: mailedKind({
    description: 'A store sent a request to the user',
    topic: 'partner_request_received',
    title: { ko: '새 제휴 요청', en: 'New partnership request' },
    sentence: (store, post) => ({
      ko: `${store}에서 ‘${post}’ 글을 보고 제휴를 요청했습니다.`,
      en: `${store} would like to partner with you on your post “${post}”.`,
    }),
    status: 'requested',
    ko: (sentence, { message, url }) => [
      '새로운 제휴 요청이 도착했습니다',
      sentence,
      quote(message),
      button('요청 확인하기', url),
      note('요청을 확인하신 뒤 수락하거나 거절하실 수 있습니다.'),
    ],
    en: (sentence, { message, url }) => [
      'You have a new partnership request',
      sentence,
      quote(message),
      button('View the request', url),
      note('Once you have read it, you can accept or decline it.'),
    ],
  }),

  partner_request_accepted: mailedKind({
    description: 'The receiver accepted a request of the user',
    topic: 'partner_request_answered',
    title: { ko: '제휴 요청 수락', en: 'Request accepted' },
    sentence: (store, post) => ({
      ko: `‘${post}’ 글에 보내신 제휴 요청을 ${store}에서 수락했습니다.`,
      en: `${store} accepted your partnership request for “${post}”.`,
    }),
    status: 'accepted',
    ko: (sentence, { url }) => [
      '제휴 요청이 수락되었습니다',
      `${sentence} 좋은 인연으로 이어지기를 바랍니다.`,
      '이제 요청 화면에서 서로의 연락처를 확인하실 수 있습니다.',
      button('연락처 보기', url),
    ],
    en: (sentence, { url }) => [
      'Your request was accepted',
      `${sentence} We hope this is the start of a good partnership.`,
      'The page of the request now shows how to reach each other.',
      button('Show contact details', url),
    ],
  }),

  partner_request_declined: mailedKind({
    description: 'The receiver declined a request of the user',
    topic: 'partner_request_answered',
    title: { ko: '제휴 요청 거절', en: 'Request declined' },
    sentence: (store, post) => ({
      ko: `‘${post}’ 글에 보내신 제휴 요청을 ${store}에서 거절했습니다.`,
      en: `${store} declined your partnership request for “${post}”.`,
    }),
    status: 'declined',
    ko: (sentence, { url }) => [
      '제휴 요청이 거절되었습니다',
      `아쉽게도 ${sentence} 두레에서 다른 가게의 글도 둘러보세요.`,
      button('요청 확인하기', url),
    ],
    en: (sentence, { url }) => [
      'Your request was declined',
      `Unfortunately, ${sentence} There are more posts by other shops on Dure.`,
      button('View the request', url),
    ],
  }),

  partner_request_withdrawn: {
    description: 'The sender withdrew a request to the user, or the post or an account was deleted',
    topic: 'partner_request_ended',
    title: { ko: '제휴 요청 취소', en: 'Request withdrawn' },
    // A receiver cannot withdraw a request: when its sender is notified of a withdrawal, the post was deleted.
    sentence: (store, post, toSender) =>
      toSender
        ? {
            ko: `${store}에서 올린 ‘${post}’ 글이 삭제되어 제휴 요청이 취소되었습니다.`,
            en: `Your partnership request for “${post}” was withdrawn because ${store} deleted the post.`,
          }
        : {
            ko: `${store}에서 ‘${post}’ 글에 보낸 제휴 요청을 취소했습니다.`,
            en: `${store} withdrew its request for your post “${post}”.`,
          },
  },

  partner_request_ended: mailedKind({
    description: 'The other store ended an accepted request, or its account was deleted',
    topic: 'partner_request_ended',
    title: { ko: '제휴 종료', en: 'Partnership ended' },
    sentence: (store, post) => ({
      ko: `${store}에서 ‘${post}’ 글로 맺은 제휴를 종료했습니다.`,
      en: `${store} ended your partnership from the post “${post}”.`,
    }),
    status: 'ended',
    ko: (_sentence, { storeName, postTitle, url }) => [
      '제휴가 종료되었습니다',
      `‘${postTitle}’ 글로 맺은 제휴를 ${storeName}에서 종료했습니다. 이제 두레에서 서로의 연락처가 보이지 않습니다.`,
      button('요청 확인하기', url),
    ],
    en: (sentence, { url }) => [
      'Your partnership has ended',
      `${sentence} Dure no longer shows your contact details to each other.`,
      button('View the request', url),
    ],
  }),
} satisfies Record<PartnerRequestKind, Kind>;

/** Composes the emails of all kinds that have one when they are sent, in the language of the recipient. */
export function partnerRequestMails(config: Config, database: Database): MailComposers {
  /** An email about a request to the owner of one side: nothing once its status, a store or the address forbids it. */
  async function compose(kind: ReturnType<typeof mailedKind>, payload: MailPayload) {
    const request = await findForMail(database, Number(payload['request_id']), kind.status);
    if (!request) return null;
    const { id, message, post, senderStore, receiverStore } = request;
    const toSender = senderStore.ownerId === payload['user_id'];
    const [own, other] = toSender ? [senderStore, receiverStore] : [receiverStore, senderStore];
    if (own.ownerId !== payload['user_id'] || other.suspendedAt) return null;
    // The address may have been changed and the account suspended since the email was queued.
    if (!own.owner?.isVerified || own.owner.suspendedAt) return null;
    // An answer is sent even if the post was deleted or hidden since.
    if (kind.status === 'requested' && !post.isVisible) return null;
    const { email, name: recipient, language } = own.owner;
    const url = `${config.frontendUrl}/${requestPage(id)}`;
    const fields = { name: recipient, storeName: other.name, postTitle: post.title, message, url, toSender };
    return { to: email, mail: writeMail(kind, language, fields) };
  }

  const composers = Object.entries(partnerRequestKinds).flatMap(([name, kind]) =>
    'status' in kind ? [[name, (payload: MailPayload) => compose(kind, payload)] as const] : [],
  );
  return Object.fromEntries(composers);
}
