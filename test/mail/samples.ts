import { authKinds } from '../../src/domains/auth/index.ts';
import { partnerRequestKinds } from '../../src/domains/partner-requests/index.ts';
import { savedSearchKinds } from '../../src/domains/saved-searches/index.ts';
import type { Language } from '../../src/http/language.ts';
import { type MailKind, writeMail } from '../../src/infrastructure/mail/content.ts';
import { renderMail } from '../../src/infrastructure/mail/rendering.ts';

const { partner_request_withdrawn, ...requestKinds } = partnerRequestKinds;
const kinds = { ...authKinds, ...requestKinds, ...savedSearchKinds };
type Kinds = typeof kinds;
type Kind = keyof Kinds;
type FieldsOf<Name extends Kind> = Kinds[Name] extends { ko(fields: infer Fields): unknown } ? Fields : never;

/** An email of a kind, with what its text depends on. Only a new request has a message. */
export type Mail<Name extends Kind = Kind> = {
  [K in Name]: { kind: K; message?: string } & Omit<FieldsOf<K>, 'message'>;
}[Name];

export function render(mail: Mail, language: Language, unsubscribeUrl?: string) {
  const { kind, ...fields } = { message: '', ...mail };
  // Which fields belong to a kind is lost in their union.
  return renderMail(writeMail<object>(kinds[kind] as MailKind<object>, language, fields), unsubscribeUrl);
}

export const code = '048213';
const verifyUrl = 'https://dure.example/verify-email?token=aB_-9.cD';
export const resetUrl = 'https://dure.example/reset-password?uid=7&token=aB_-9';
const undoUrl = 'https://dure.example/undo-email-change?token=aB_-9.cD';
export const requestUrl = 'https://dure.example/requests/3?a=1&b=2';

const name = '김민지';
const changedAt = new Date('2026-03-04T18:05:59.000Z');
const resetPage = 'https://dure.example/forgot?a=1&b=2';
const request = { name, storeName: '해님 빵집', postTitle: '빵 나눔', url: requestUrl, toSender: true };

/** An email of each kind. */
export const mails = {
  verification_code: { kind: 'verification_code', code, url: verifyUrl, minutes: 10 },
  account_exists: {
    kind: 'account_exists',
    username: 'minji.kim',
    loginUrl: 'https://dure.example/login',
    resetUrl: resetPage,
  },
  reset_link: { kind: 'reset_link', name, url: resetUrl, minutes: 60 },
  password_changed: { kind: 'password_changed', name, changedAt, ended: 'others', url: resetPage },
  login_method_changed: {
    kind: 'login_method_changed',
    name,
    change: 'added',
    method: 'passkey',
    label: '민지의 휴대폰',
    changedAt,
    url: resetUrl,
  },
  email_changed: { kind: 'email_changed', name, newEmail: 'm***@e***.com', changedAt, url: undoUrl },
  marketing_consent: {
    kind: 'marketing_consent',
    name,
    givenAt: changedAt,
    url: 'https://dure.example/account',
  },
  user_id: { kind: 'user_id', name, username: 'minji.kim', url: 'https://dure.example/login' },
  account_deleted: { kind: 'account_deleted', deletedAt: changedAt },
  partner_request_received: {
    ...request,
    kind: 'partner_request_received',
    storeName: '달빛 카페',
    postTitle: '원두 나눔',
    toSender: false,
    message: '안녕하세요.\n같이 해요 & 나눠요.',
  },
  partner_request_accepted: { ...request, kind: 'partner_request_accepted' },
  partner_request_declined: { ...request, kind: 'partner_request_declined' },
  partner_request_ended: { ...request, kind: 'partner_request_ended' },
  saved_search_match: { ...request, kind: 'saved_search_match', searchName: '망원동 빵집' },
  saved_search_digest: { kind: 'saved_search_digest', name, count: 14, url: 'https://dure.example/posts' },
} satisfies Record<Mail['kind'], Mail>;
