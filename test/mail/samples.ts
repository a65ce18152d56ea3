import type { Language, Mail } from '../../src/infrastructure/mail/templates.ts';

export const code = '048213';
export const verifyUrl = 'https://dure.example/verify-email?token=aB_-9.cD';
export const resetUrl = 'https://dure.example/reset-password?uid=7&token=aB_-9';
export const undoUrl = 'https://dure.example/undo-email-change?token=aB_-9.cD';
export const requestUrl = 'https://dure.example/requests/3?a=1&b=2';
export const languages: Language[] = ['ko', 'en'];

/** A mail of each kind. */
export const mails = {
  verification_code: { kind: 'verification_code', code, url: verifyUrl, minutes: 10 },
  account_exists: {
    kind: 'account_exists',
    username: 'minji.kim',
    loginUrl: 'https://dure.example/login',
    resetUrl: 'https://dure.example/forgot?a=1&b=2',
  },
  reset_link: { kind: 'reset_link', name: '김민지', url: resetUrl, minutes: 60 },
  password_changed: {
    kind: 'password_changed',
    name: '김민지',
    changedAt: new Date('2026-03-04T18:05:59.000Z'),
  },
  email_changed: {
    kind: 'email_changed',
    name: '김민지',
    newEmail: 'm***@e***.com',
    changedAt: new Date('2026-03-04T18:05:59.000Z'),
    url: undoUrl,
  },
  user_id: { kind: 'user_id', name: '김민지', username: 'minji.kim' },
  partner_request_received: {
    kind: 'partner_request_received',
    name: '김민지',
    storeName: '달빛 카페',
    postTitle: '원두 나눔',
    message: '안녕하세요.\n같이 해요 & 나눠요.',
    url: requestUrl,
  },
  partner_request_accepted: {
    kind: 'partner_request_accepted',
    name: '김민지',
    storeName: '해님 빵집',
    postTitle: '빵 나눔',
    url: requestUrl,
  },
  partner_request_declined: {
    kind: 'partner_request_declined',
    name: '김민지',
    storeName: '해님 빵집',
    postTitle: '빵 나눔',
    url: requestUrl,
  },
  partner_request_ended: {
    kind: 'partner_request_ended',
    name: '김민지',
    storeName: '해님 빵집',
    postTitle: '빵 나눔',
    url: requestUrl,
  },
} satisfies Record<Mail['kind'], Mail>;
