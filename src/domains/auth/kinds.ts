import type { Language } from '../../http/language.ts';
import type { Tx } from '../../infrastructure/database/client.ts';
import {
  button,
  code,
  date,
  duration,
  link,
  mailKind,
  note,
  quote,
} from '../../infrastructure/mail/content.ts';
import type { MailQueue } from '../../infrastructure/mail/queue.ts';

const accountReason = {
  ko: '두레 계정의 보안을 위해 보내 드리는 메일입니다.',
  en: 'We send this email to keep your Dure account safe.',
};

const cap = { purpose: 'notice', perHour: 5 } as const;

/** What a notice is about. */
export interface LoginMethodChange {
  change: 'added' | 'removed';
  method: keyof typeof loginMethods.ko;
  /** Which one: the name of the provider or of the passkey. */
  label?: string;
}

/** What a notice says first, in the words of the buttons that do it. */
const loginMethods = {
  ko: {
    identity: { added: '간편 로그인이 연결되었습니다', removed: '간편 로그인 연결이 해제되었습니다' },
    passkey: { added: '패스키가 추가되었습니다', removed: '패스키가 삭제되었습니다' },
    second_factor: { added: '2단계 인증이 켜졌습니다', removed: '2단계 인증이 꺼졌습니다' },
  },
  en: {
    identity: { added: 'A login was connected', removed: 'A login was disconnected' },
    passkey: { added: 'A passkey was added', removed: 'A passkey was deleted' },
    second_factor: {
      added: 'Two-step verification was switched on',
      removed: 'Two-step verification was switched off',
    },
  },
};

export const authKinds = {
  // Emails that anyone can request for any address. The numbers apply to every address alike, known or not; there is a cooldown, too.
  verification_code: mailKind<{ code: string; url: string; minutes: number }>({
    priority: -10,
    cap: { purpose: 'email_verify', perHour: 5 },
    reason: {
      ko: '두레에 이 이메일 주소의 인증 요청이 접수되어 보내 드리는 메일입니다.',
      en: 'You are receiving this email because Dure was asked to verify this address.',
    },
    ko: (mail) => ({
      subject: '[두레] 이메일 인증번호 안내',
      preheader: `인증번호 ${mail.code} · ${duration.ko(mail.minutes)} 동안 사용할 수 있습니다.`,
      heading: '이메일 인증번호',
      blocks: [
        '아래 인증번호를 두레 화면에 입력해 주세요.',
        code(mail.code),
        '인증번호를 입력하는 대신 아래 버튼을 눌러 인증하실 수도 있습니다.',
        button('이메일 인증하기', mail.url),
        `인증번호와 링크는 ${duration.ko(mail.minutes)} 동안, 둘 중 하나를 한 번만 사용할 수 있습니다.`,
        note(
          '두레는 전화나 메시지로 인증번호를 묻지 않습니다. 인증번호와 링크를 다른 사람에게 알려 주지 마세요.',
        ),
        note(
          '직접 요청하지 않으셨다면 이 메일을 무시하셔도 됩니다. 인증번호와 링크를 사용하지 않으면 이 이메일은 인증되지 않습니다.',
        ),
      ],
    }),
    en: (mail) => ({
      subject: 'Your Dure verification code',
      preheader: `Your code is ${mail.code}. It is valid for ${duration.en(mail.minutes)}.`,
      heading: 'Your verification code',
      blocks: [
        'Enter this code in Dure to verify your email address.',
        code(mail.code),
        'Or open this link instead.',
        button('Verify your email address', mail.url),
        `The code and the link are valid for ${duration.en(mail.minutes)}. You can use one of them, once.`,
        note(
          'Dure will never ask for this code by phone or message. Please do not share the code or the link with anyone.',
        ),
        note(
          'If you did not ask for this code, you can ignore this email. This address is only verified if the code or the link is used.',
        ),
      ],
    }),
  }),

  /** In place of a code, to the address of a verified account. */
  account_exists: mailKind<{ username: string; loginUrl: string; resetUrl: string }>({
    reason: accountReason,
    ko: (mail) => ({
      subject: '[두레] 이미 가입된 이메일입니다',
      preheader: '새로 가입하지 않으셔도 기존 아이디로 로그인할 수 있습니다.',
      heading: '이미 가입된 이메일입니다',
      blocks: [
        '이 이메일 주소로 가입이나 인증 요청이 있었습니다. 이 주소는 이미 두레에 가입되어 있습니다. 직접 요청하셨다면 아래 아이디로 로그인해 주세요.',
        code(mail.username),
        button('로그인하기', mail.loginUrl),
        link('비밀번호를 잊으셨나요? 다시 설정하기', mail.resetUrl),
        note('직접 요청하지 않으셨다면 이 메일을 무시하셔도 됩니다. 계정에는 아무런 변화가 없습니다.'),
      ],
    }),
    en: (mail) => ({
      subject: 'You already have a Dure account',
      preheader: 'There is no need to sign up again: log in with your existing account.',
      heading: 'You already have an account',
      blocks: [
        'Someone asked to sign up with this email address or to verify it, but it already belongs to a Dure account. If that was you, log in with this username.',
        code(mail.username),
        button('Log in', mail.loginUrl),
        link('Forgot your password? Set a new one', mail.resetUrl),
        note('If it was not you, you can ignore this email. Nothing about your account has changed.'),
      ],
    }),
  }),

  reset_link: mailKind<{ name: string; url: string; minutes: number }>({
    priority: -10,
    cap: { purpose: 'reset_password', perHour: 5 },
    reason: accountReason,
    ko: (mail) => ({
      subject: '[두레] 비밀번호 재설정 안내',
      preheader: `링크는 ${duration.ko(mail.minutes)} 동안 한 번만 사용할 수 있습니다.`,
      heading: '비밀번호 재설정',
      blocks: [
        '비밀번호 재설정을 요청하셨다면 아래에서 새 비밀번호를 설정해 주세요.',
        button('새 비밀번호 설정하기', mail.url),
        `링크는 ${duration.ko(mail.minutes)} 동안 한 번만 사용할 수 있습니다. 새 링크를 요청하시면 이 링크는 더 이상 사용할 수 없습니다.`,
        note(
          '직접 요청하지 않으셨다면 이 메일을 무시하셔도 됩니다. 비밀번호는 바뀌지 않습니다. 링크를 다른 사람에게 전달하지 마세요.',
        ),
      ],
    }),
    en: (mail) => ({
      subject: 'Reset your Dure password',
      preheader: `The link can be used once and is valid for ${duration.en(mail.minutes)}.`,
      heading: 'Reset your password',
      blocks: [
        'If you asked to reset your password, choose a new one here.',
        button('Choose a new password', mail.url),
        `The link can be used once and is valid for ${duration.en(mail.minutes)}. It stops working when you ask for a new one.`,
        note(
          'If you did not ask for this, you can ignore this email. Your password stays the same. Please do not forward the link to anyone.',
        ),
      ],
    }),
  }),

  user_id: mailKind<{ name: string; username: string; url: string }>({
    priority: -10,
    cap: { purpose: 'find_id', perHour: 5 },
    reason: accountReason,
    ko: (mail) => ({
      subject: '[두레] 아이디 안내',
      preheader: '요청하신 두레 아이디를 알려 드립니다.',
      heading: '두레 아이디',
      blocks: [
        '이 이메일로 가입하신 두레 아이디입니다.',
        code(mail.username),
        button('로그인하기', mail.url),
        note(
          '직접 요청하지 않으셨다면 이 메일을 무시하셔도 됩니다. 아이디는 이 메일로만 보내 드렸으며, 계정에는 아무런 변화가 없습니다.',
        ),
      ],
    }),
    en: (mail) => ({
      subject: 'Your Dure username',
      preheader: 'Here is the username you asked for.',
      heading: 'Your username',
      blocks: [
        'This is the username of the Dure account with this email address.',
        code(mail.username),
        button('Log in', mail.url),
        note(
          'If you did not ask for this, you can ignore this email. The username was sent to this email account only, and nothing about your Dure account has changed.',
        ),
      ],
    }),
  }),

  // Emails about a change of an account, which its user did not request.
  /** `ended`: whether the session that changed it ended, too. A reset begins at the URL. */
  password_changed: mailKind<{ name: string; changedAt: Date; ended: 'all' | 'others'; url: string }>({
    cap,
    reason: accountReason,
    ko: (mail) => ({
      subject: '[두레] 비밀번호가 변경되었습니다',
      preheader: '직접 바꾸지 않으셨다면 지금 바로 비밀번호를 다시 설정해 주세요.',
      heading: '비밀번호가 변경되었습니다',
      blocks: [
        `${date.ko(mail.changedAt)}에 두레 계정의 비밀번호가 변경되었습니다. 안전을 위해 ${mail.ended === 'all' ? '모든' : '다른'} 기기에서 로그아웃되었습니다.`,
        '직접 바꾸셨다면 따로 하실 일은 없습니다.',
        '직접 바꾸지 않으셨다면 지금 바로 비밀번호를 다시 설정해 주세요. 다시 설정하시면 모든 기기에서 로그아웃됩니다. 이 이메일 계정의 비밀번호도 함께 바꾸시는 것이 좋습니다.',
        button('비밀번호 다시 설정하기', mail.url),
      ],
    }),
    en: (mail) => ({
      subject: 'Your Dure password was changed',
      preheader: 'If it was not you, reset your password now.',
      heading: 'Your password was changed',
      blocks: [
        `The password of your Dure account was changed on ${date.en(mail.changedAt)}. To keep your account safe, ${mail.ended === 'all' ? 'every device was' : 'your other devices were'} logged out.`,
        'If it was you, there is nothing else to do.',
        'If it was not you, set a new password now. This logs out every device. We also recommend changing the password of this email account.',
        button('Set a new password', mail.url),
      ],
    }),
  }),

  /** A reset of the password begins at the URL. */
  login_method_changed: mailKind<
    Required<LoginMethodChange> & { name: string; changedAt: Date; url: string }
  >({
    cap,
    reason: accountReason,
    ko: (mail) => {
      const changed = loginMethods.ko[mail.method][mail.change];
      return {
        subject: `[두레] ${changed}`,
        preheader: '직접 하지 않으셨다면 지금 바로 비밀번호를 다시 설정해 주세요.',
        heading: changed,
        blocks: [
          `${date.ko(mail.changedAt)}에 두레 계정에 로그인하는 방법이 변경되었습니다.`,
          ...(mail.label === '' ? [] : [quote(mail.label)]),
          '직접 하셨다면 따로 하실 일은 없습니다.',
          '직접 하지 않으셨다면 지금 바로 비밀번호를 다시 설정해 주세요. 모든 기기에서 로그아웃됩니다. 그런 다음 두레의 ‘로그인 방법’에서 모르는 방법을 삭제해 주세요.',
          button('비밀번호 다시 설정하기', mail.url),
        ],
      };
    },
    en: (mail) => {
      const changed = loginMethods.en[mail.method][mail.change];
      return {
        subject: `${changed} · Dure`,
        preheader: 'If it was not you, reset your password now.',
        heading: changed,
        blocks: [
          `A way to log in to your Dure account changed on ${date.en(mail.changedAt)}.`,
          ...(mail.label === '' ? [] : [quote(mail.label)]),
          'If it was you, there is nothing else to do.',
          'If it was not you, set a new password now. This logs out every device. Then remove what you do not know under “Ways to log in”.',
          button('Set a new password', mail.url),
        ],
      };
    },
  }),

  /** The new address is masked; the URL undoes the change. */
  email_changed: mailKind<{ name: string; newEmail: string; changedAt: Date; url: string }>({
    // Apart from other notices, because this one has the link with which an owner gets a taken account back.
    cap: { purpose: 'email_change', perHour: 5 },
    reason: accountReason,
    ko: (mail) => ({
      subject: '[두레] 이메일 주소가 변경되었습니다',
      preheader: '직접 바꾸지 않으셨다면 지금 바로 이전 이메일로 되돌려 주세요.',
      heading: '이메일 주소가 변경되었습니다',
      blocks: [
        `${date.ko(mail.changedAt)}에 두레 계정의 이메일이 이 주소에서 다른 주소로 변경되었습니다. 새 주소는 아래와 같으며, 일부를 가려서 보여 드립니다.`,
        code(mail.newEmail),
        '직접 바꾸셨다면 따로 하실 일은 없습니다. 앞으로 메일은 새 주소로 보내 드립니다.',
        '직접 바꾸지 않으셨다면 지금 바로 아래에서 이 주소로 되돌려 주세요. 되돌리시면 모든 기기에서 로그아웃되고, 비밀번호를 다시 설정하는 링크를 이 주소로 보내 드립니다.',
        button('이 주소로 되돌리기', mail.url),
        note('이 링크는 7일 동안 한 번만 사용할 수 있습니다. 링크를 다른 사람에게 전달하지 마세요.'),
      ],
    }),
    en: (mail) => ({
      subject: 'Your Dure email address was changed',
      preheader: 'If it was not you, go back to this address now.',
      heading: 'Your email address was changed',
      blocks: [
        `The email address of your Dure account was changed from this address to another one on ${date.en(mail.changedAt)}. This is the new address, partly hidden.`,
        code(mail.newEmail),
        'If it was you, there is nothing to do. From now on, our emails go to the new address.',
        'If it was not you, go back to this address now. You will be logged out on all devices, and we will send a link to set a new password to this address.',
        button('Go back to this address', mail.url),
        note('The link can be used once and is valid for 7 days. Please do not forward it to anyone.'),
      ],
    }),
  }),

  /** To the address of an account that is gone. */
  account_deleted: mailKind<{ deletedAt: Date }>({
    reason: {
      ko: '두레 계정의 삭제가 요청되어 보내 드리는 마지막 메일입니다.',
      en: 'This is the last email about your Dure account, which was deleted.',
    },
    ko: ({ deletedAt }) => ({
      subject: '[두레] 회원 탈퇴가 완료되었습니다',
      preheader: '계정과 가게, 글이 모두 삭제되었습니다.',
      heading: '회원 탈퇴가 완료되었습니다',
      blocks: [
        `${date.ko(deletedAt)}에 두레 계정이 삭제되었습니다. 가게와 글도 함께 삭제되었으며 되돌릴 수 없습니다.`,
        '그동안 두레를 이용해 주셔서 감사합니다. 같은 이메일과 아이디로 언제든지 다시 가입하실 수 있습니다.',
        note(
          '직접 탈퇴하지 않으셨다면 다른 사람이 비밀번호를 알고 있을 수 있습니다. 같은 비밀번호를 쓰는 곳과 이 이메일 계정의 비밀번호를 바꾸시는 것이 좋습니다.',
        ),
      ],
    }),
    en: ({ deletedAt }) => ({
      subject: 'Your Dure account was deleted',
      preheader: 'Your account, your shop and your posts are gone.',
      heading: 'Your account was deleted',
      blocks: [
        `Your Dure account was deleted on ${date.en(deletedAt)}. Your shop and your posts were deleted with it, and cannot be restored.`,
        'Thank you for using Dure. You can sign up again at any time, with the same email address and username.',
        note(
          'If it was not you, someone may know your password. We recommend changing it wherever you use it, and the password of this email account.',
        ),
      ],
    }),
  }),

  marketing_consent: mailKind<{ name: string; givenAt: Date; url: string }>({
    cap,
    reason: {
      ko: '광고성 정보 수신에 동의하신 분께 2년마다 보내 드리는 메일입니다.',
      en: 'We send this email every two years to people who agreed to marketing emails.',
    },
    ko: (mail) => ({
      subject: '[두레] 광고성 정보 수신 동의 확인 안내',
      preheader: '동의하신 날짜와 동의를 유지하거나 철회하는 방법을 알려 드립니다.',
      heading: '광고성 정보 수신 동의 확인',
      blocks: [
        `${date.ko(mail.givenAt)}에 두레에서 보내는 광고성 정보 메일의 수신에 동의하셨습니다. 정보통신망법 제50조 제8항에 따라 2년마다 동의하신 사실을 알려 드리고 수신 동의를 유지하실지 확인하고 있습니다.`,
        '계속 받으시려면 따로 하실 일은 없습니다.',
        '더 이상 받지 않으시려면 아래 계정 화면에서 언제든지 동의를 철회하실 수 있습니다.',
        button('수신 동의 확인하기', mail.url),
        note('전송자: 두레'),
      ],
    }),
    en: (mail) => ({
      subject: 'Your consent to marketing emails from Dure',
      preheader: 'When you agreed to them, and how to keep or withdraw your consent.',
      heading: 'Your consent to marketing emails',
      blocks: [
        `You agreed to marketing emails from Dure on ${date.en(mail.givenAt)}. Every two years, Korean law (Information and Communications Network Act, article 50 (8)) has us remind you and ask whether you still agree.`,
        'If you want to keep getting them, there is nothing to do.',
        'If you no longer want them, you can withdraw your consent at any time on your account page.',
        button('Review your consent', mail.url),
        note('Sender: Dure'),
      ],
    }),
  }),
};

/** What the address of a deleted account is sealed for. */
export const deletedAddress = 'the address of a deleted account';

type Change =
  | { kind: 'password_changed'; ended: 'all' | 'others' }
  | ({ kind: 'login_method_changed' } & LoginMethodChange)
  | { kind: 'email_changed'; id: string };
type Recipient = { id: number; language: Language };

/** Mails notices of changes that were made just now. */
export const createChangeNotices =
  ({ addUnrequested }: MailQueue) =>
  (tx: Tx, { id: userId, language }: Recipient, { kind, ...change }: Change) =>
    addUnrequested(tx, { kind, userId, payload: { ...change, changed_at: Date.now(), language } });
