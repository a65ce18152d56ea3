import { button, code, duration, link, mailKind, note } from '../../infrastructure/mail/content.ts';
import { accountReason, noticeKinds } from './notices.ts';

/** Emails that anyone can request for any address. The numbers apply to every address alike, known or not; there is a cooldown, too. */
const requestedKinds = {
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
};

export const authKinds = { ...requestedKinds, ...noticeKinds };
