import type { LocalizedText } from '../../http/language.ts';
import type {
  MailTopic,
  NotificationKind,
  PartnerRequestStatus,
} from '../../infrastructure/database/generated/enums.ts';
import { button, type MailKind, note, quote } from '../../infrastructure/mail/content.ts';

/** What recipients of emails and push messages switch on and off: the name, and what the API says about either. */
export const partnerRequestTopics = {
  partner_request_received: {
    name: { ko: '새로운 제휴 요청', en: 'new partnership requests' },
    email: 'A new partnership request',
    push: 'A new partnership request',
    example: true,
  },
  partner_request_answered: {
    name: { ko: '제휴 요청에 대한 답변', en: 'answers to your partnership requests' },
    email: 'A request was accepted or declined',
    push: 'A request was accepted or declined',
    example: true,
  },
  partner_request_ended: {
    name: { ko: '제휴 종료', en: 'partnerships that have ended' },
    // A withdrawal sends no email.
    email: 'The other side ended a partnership',
    push: 'The other side ended a partnership or withdrew a request',
    example: false,
  },
};

export type PartnerRequestKind = Extract<NotificationKind, `partner_request_${string}`>;

/** What a notification about a request says. */
interface Subject {
  postTitle: string;
  senderStoreName: string;
  receiverStoreName: string;
  /** Whether the recipient is the sender of the request; else the receiver. */
  toSender: boolean;
}

/** What an email about a request says. */
interface MailFields {
  name: string;
  /** The other side of the request. */
  storeName: string;
  postTitle: string;
  message: string;
  url: string;
}

/** A kind of notification, and its email if it has one. */
interface Kind extends Partial<MailKind<MailFields>> {
  /** What has happened, for the description of the API. */
  description: string;
  topic: MailTopic;
  /** Of the push message, whose text is the sentence, as is that of the notification. */
  title: LocalizedText;
  sentence(subject: Subject): LocalizedText;
  /** The status that a request is in while an email tells of it. */
  status?: PartnerRequestStatus;
}

const mailed = {
  cap: { purpose: 'partner_request', perHour: 60 },
  reason: {
    ko: '두레에 등록하신 가게의 제휴 소식을 알려 드리는 메일입니다.',
    en: 'You are receiving this email because your shop is registered with Dure.',
  },
} as const;

/** The path of the page about a request. */
export const requestPage = (id: number) => `requests/${id}`;

/** Names and titles are followed only by 님, 에서, ’ or a word of its own, because other particles depend on the letter before them. */
export const partnerRequestKinds = {
  partner_request_received: {
    ...mailed,
    description: 'A store sent a request to the user',
    topic: 'partner_request_received',
    title: { ko: '새 제휴 요청', en: 'New partnership request' },
    sentence: ({ senderStoreName: sender, postTitle: title }) => ({
      ko: `${sender}에서 ‘${title}’ 글을 보고 제휴를 요청했습니다.`,
      en: `${sender} would like to partner with you on your post “${title}”.`,
    }),
    status: 'requested',
    ko: (mail) => ({
      subject: `[두레] ${mail.storeName}에서 제휴를 요청했습니다`,
      preheader: `글 제목: ${mail.postTitle}`,
      heading: '새로운 제휴 요청이 도착했습니다',
      blocks: [
        `${mail.storeName}에서 ‘${mail.postTitle}’ 글을 보고 제휴를 요청했습니다.`,
        quote(mail.message),
        button('요청 확인하기', mail.url),
        note('요청을 확인하신 뒤 수락하거나 거절하실 수 있습니다.'),
      ],
    }),
    en: (mail) => ({
      subject: `Dure: ${mail.storeName} sent you a partnership request`,
      preheader: `Post: ${mail.postTitle}`,
      heading: 'You have a new partnership request',
      blocks: [
        `${mail.storeName} would like to partner with you on your post “${mail.postTitle}”.`,
        quote(mail.message),
        button('View the request', mail.url),
        note('Once you have read it, you can accept or decline it.'),
      ],
    }),
  },

  partner_request_accepted: {
    ...mailed,
    description: 'The receiver accepted a request of the user',
    topic: 'partner_request_answered',
    title: { ko: '제휴 요청 수락', en: 'Request accepted' },
    sentence: ({ receiverStoreName: receiver, postTitle: title }) => ({
      ko: `‘${title}’ 글에 보내신 제휴 요청을 ${receiver}에서 수락했습니다.`,
      en: `${receiver} accepted your partnership request for “${title}”.`,
    }),
    status: 'accepted',
    ko: (mail) => ({
      subject: `[두레] ${mail.storeName}에서 제휴 요청을 수락했습니다`,
      preheader: `글 제목: ${mail.postTitle}`,
      heading: '제휴 요청이 수락되었습니다',
      blocks: [
        `‘${mail.postTitle}’ 글에 보내신 제휴 요청을 ${mail.storeName}에서 수락했습니다. 좋은 인연으로 이어지기를 바랍니다.`,
        '이제 요청 화면에서 서로의 연락처를 확인하실 수 있습니다.',
        button('연락처 보기', mail.url),
      ],
    }),
    en: (mail) => ({
      subject: `Dure: ${mail.storeName} accepted your partnership request`,
      preheader: `Post: ${mail.postTitle}`,
      heading: 'Your request was accepted',
      blocks: [
        `${mail.storeName} accepted your partnership request for “${mail.postTitle}”. We hope this is the start of a good partnership.`,
        'The page of the request now shows how to reach each other.',
        button('Show contact details', mail.url),
      ],
    }),
  },

  partner_request_declined: {
    ...mailed,
    description: 'The receiver declined a request of the user',
    topic: 'partner_request_answered',
    title: { ko: '제휴 요청 거절', en: 'Request declined' },
    sentence: ({ receiverStoreName: receiver, postTitle: title }) => ({
      ko: `‘${title}’ 글에 보내신 제휴 요청을 ${receiver}에서 거절했습니다.`,
      en: `${receiver} declined your partnership request for “${title}”.`,
    }),
    status: 'declined',
    ko: (mail) => ({
      subject: `[두레] ${mail.storeName}에서 제휴 요청을 거절했습니다`,
      preheader: `글 제목: ${mail.postTitle}`,
      heading: '제휴 요청이 거절되었습니다',
      blocks: [
        `아쉽게도 ‘${mail.postTitle}’ 글에 보내신 제휴 요청을 ${mail.storeName}에서 거절했습니다. 두레에서 다른 가게의 글도 둘러보세요.`,
        button('요청 확인하기', mail.url),
      ],
    }),
    en: (mail) => ({
      subject: `Dure: ${mail.storeName} declined your partnership request`,
      preheader: `Post: ${mail.postTitle}`,
      heading: 'Your request was declined',
      blocks: [
        `Unfortunately, ${mail.storeName} declined your partnership request for “${mail.postTitle}”. There are more posts by other shops on Dure.`,
        button('View the request', mail.url),
      ],
    }),
  },

  partner_request_withdrawn: {
    description: 'The sender withdrew a request to the user, or the post or an account was deleted',
    topic: 'partner_request_ended',
    title: { ko: '제휴 요청 취소', en: 'Request withdrawn' },
    // A receiver cannot withdraw a request: when its sender is notified of a withdrawal, the post was deleted.
    sentence: ({ senderStoreName: sender, receiverStoreName: receiver, postTitle: title, toSender }) =>
      toSender
        ? {
            ko: `${receiver}에서 올린 ‘${title}’ 글이 삭제되어 제휴 요청이 취소되었습니다.`,
            en: `Your partnership request for “${title}” was withdrawn because ${receiver} deleted the post.`,
          }
        : {
            ko: `${sender}에서 ‘${title}’ 글에 보낸 제휴 요청을 취소했습니다.`,
            en: `${sender} withdrew its request for your post “${title}”.`,
          },
  },

  partner_request_ended: {
    ...mailed,
    description: 'The other store ended an accepted request, or its account was deleted',
    topic: 'partner_request_ended',
    title: { ko: '제휴 종료', en: 'Partnership ended' },
    sentence: ({ senderStoreName, receiverStoreName, postTitle: title, toSender }) => {
      const other = toSender ? receiverStoreName : senderStoreName;
      return {
        ko: `${other}에서 ‘${title}’ 글로 맺은 제휴를 종료했습니다.`,
        en: `${other} ended your partnership from the post “${title}”.`,
      };
    },
    status: 'ended',
    ko: (mail) => ({
      subject: `[두레] ${mail.storeName}에서 제휴를 종료했습니다`,
      preheader: `글 제목: ${mail.postTitle}`,
      heading: '제휴가 종료되었습니다',
      blocks: [
        `‘${mail.postTitle}’ 글로 맺은 제휴를 ${mail.storeName}에서 종료했습니다. 이제 두레에서 서로의 연락처가 보이지 않습니다.`,
        button('요청 확인하기', mail.url),
      ],
    }),
    en: (mail) => ({
      subject: `Dure: ${mail.storeName} ended your partnership`,
      preheader: `Post: ${mail.postTitle}`,
      heading: 'Your partnership has ended',
      blocks: [
        `${mail.storeName} ended your partnership from the post “${mail.postTitle}”. Dure no longer shows your contact details to each other.`,
        button('View the request', mail.url),
      ],
    }),
  },
} satisfies Record<PartnerRequestKind, Kind>;
