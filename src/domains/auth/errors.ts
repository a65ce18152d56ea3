import {
  type ApiError,
  defineError,
  type ErrorDefinition,
  fieldErrorFields,
  httpErrors,
  invalidFields,
} from '../../http/errors.ts';
import type { LocalizedText } from '../../http/language.ts';
import { Email, Flag, Int32, List, NamedEnum, NamedObject, OrNull, Ref, Text } from '../../http/schemas.ts';
import { LoginMethods, Token } from './schemas.ts';

/** 409: another account has what the request wants. `fields` and `errors` name the field, with their examples. */
const taken = (code: string, field: string, text: LocalizedText) =>
  defineError(409, code, {
    ...text,
    fields: {
      fields: { ...fieldErrorFields.fields, examples: [{ [field]: [text.ko] }] },
      errors: { ...fieldErrorFields.errors, examples: [[{ field, code: 'taken', message: text.ko }]] },
    },
  });

const SuggestedAccount = NamedObject('SuggestedAccount', 'What the form of a sign-up can be filled with', {
  name: OrNull(Text('The name at the provider', 50)),
  email: OrNull(Email('The email address at the provider')),
  is_email_verified: Flag('Whether the provider has verified it: the new account is then verified with it'),
});

const SecondFactorMethod = NamedEnum('SecondFactorMethod', 'A way to finish a login', {
  totp: 'A code of the authenticator app',
  recovery_code: 'A recovery code',
});

/** Errors of the authentication operations. Those of one code differ in their text; the document has the fields of the first. */
export const authErrors = {
  invalidCredentials: defineError(401, 'invalid_credentials', {
    ko: '아이디 또는 비밀번호가 올바르지 않습니다.',
    en: 'The username or password is not correct.',
  }),
  wrongPassword: defineError(401, 'invalid_credentials', {
    ko: '비밀번호가 올바르지 않습니다.',
    en: 'The password is not correct.',
  }),
  resetRequired: defineError(403, 'forbidden', {
    ko: '이메일 변경을 되돌린 계정입니다. 메일로 보낸 링크에서 비밀번호를 먼저 다시 설정해 주세요.',
    en: 'A change of email was undone. Please set a new password first, with the link that was mailed.',
  }),
  accountSuspended: defineError(403, 'account_suspended', {
    ko: '이용이 정지된 계정입니다.',
    en: 'This account is suspended.',
  }),
  usernameTaken: taken('username_taken', 'username', {
    ko: '이미 사용 중인 아이디입니다.',
    en: 'This username is already taken.',
  }),
  emailTaken: taken('email_taken', 'email', {
    ko: '이미 가입된 이메일입니다.',
    en: 'This email address already has an account.',
  }),
  oldEmailTaken: taken('email_taken', 'token', {
    ko: '이전 이메일을 다른 계정에서 사용하고 있어 되돌릴 수 없습니다.',
    en: 'The old email address now belongs to another account, so the change cannot be undone.',
  }),
  verificationTokenInvalid: defineError(400, 'verification_token_invalid', {
    ko: '이메일 인증 정보가 올바르지 않거나 만료되었습니다. 다시 인증해 주세요.',
    en: 'The email verification is not valid or has expired. Please verify the address again.',
  }),
  invalidCode: defineError(400, 'invalid_code', {
    ko: '인증번호가 올바르지 않습니다.',
    en: 'The code is not correct.',
    fields: {
      attempts_left: Int32(
        'How many more codes may be tried. With 0 a new code is needed, or a login begins again. Always 0 for the token of a link',
        { maximum: 9 },
      ),
    },
  }),
  emailLinkInvalid: defineError(400, 'invalid_code', {
    ko: '이메일 인증 링크가 올바르지 않거나 만료되었습니다. 새 인증번호를 받아 주세요.',
    en: 'The link to verify the email address is not valid or has expired. Please ask for a new code.',
  }),
  tooManyCodeAttempts: defineError(429, 'too_many_attempts', {
    ko: '인증번호를 여러 번 잘못 입력했습니다. 새 인증번호를 받아 주세요.',
    en: 'The code was entered incorrectly too many times. Please ask for a new one.',
  }),
  tooManyLogins: defineError(429, 'too_many_attempts', {
    ko: '로그인에 여러 번 실패했습니다. 잠시 후 다시 시도해 주세요.',
    en: 'Too many failed logins. Please try again later.',
  }),
  tooManyPasswords: defineError(429, 'too_many_attempts', {
    ko: '비밀번호를 여러 번 잘못 입력했습니다. 잠시 후 다시 시도해 주세요.',
    en: 'Too many wrong passwords. Please try again later.',
  }),
  resetLinkInvalid: defineError(400, 'reset_link_invalid', {
    ko: '비밀번호 재설정 링크가 올바르지 않거나 만료되었습니다. 다시 요청해 주세요.',
    en: 'The password reset link is not valid or has expired. Please ask for a new one.',
  }),
  undoLinkInvalid: defineError(400, 'undo_link_invalid', {
    ko: '이미 사용했거나 기한이 지난 링크입니다. 이메일을 되돌리셨다면 예전 주소의 메일함에서 비밀번호를 다시 설정하는 링크를 확인해 주세요.',
    en: 'This link was already used or has expired. If the change was undone, the mailbox of the old address has a link to set a new password.',
  }),
  secondFactorRequired: defineError(401, 'second_factor_required', {
    ko: '인증 앱의 인증번호를 입력해 주세요.',
    en: 'Please enter the code of your authenticator app.',
    fields: {
      second_factor_token: Token('For `finishLogin`'),
      methods: List(Ref(SecondFactorMethod), 2, 'What the login can be finished with'),
      expires_in: Int32('Seconds the token is valid'),
    },
  }),
  secondFactorTokenInvalid: defineError(400, 'second_factor_token_invalid', {
    ko: '로그인 시간이 지났습니다. 처음부터 다시 로그인해 주세요.',
    en: 'This login has expired. Please log in again.',
  }),
  secondFactorNotFound: defineError(404, 'not_found', {
    ko: '2단계 인증을 사용하고 있지 않습니다.',
    en: 'The second factor is not switched on.',
  }),
  secondFactorExists: defineError(409, 'second_factor_exists', {
    ko: '2단계 인증을 이미 사용하고 있습니다.',
    en: 'The second factor is already switched on.',
  }),
  tooManySecondFactors: defineError(429, 'too_many_attempts', {
    ko: '인증번호를 여러 번 잘못 입력했습니다. 잠시 후 다시 시도해 주세요.',
    en: 'Too many wrong codes. Please try again later.',
  }),
  confirmationRequired: defineError(403, 'confirmation_required', {
    ko: '본인 확인이 필요합니다. 다시 한 번 확인해 주세요.',
    en: 'Please confirm that it is you.',
    fields: {
      methods: LoginMethods(
        '`password`, `totp`, `recovery_code` and the ids of providers: what this account can confirm with',
      ),
    },
  }),
  providerNotFound: defineError(404, 'provider_not_found', {
    ko: '지원하지 않는 로그인 방법입니다.',
    en: 'There is no such login provider.',
  }),
  providerRefused: defineError(400, 'provider_refused', {
    ko: '로그인하지 못했습니다. 처음부터 다시 시도해 주세요.',
    en: 'The login with the provider did not work. Please start again.',
  }),
  notForm: {
    ...httpErrors.unsupportedMediaType,
    text: {
      ko: '본문은 application/x-www-form-urlencoded여야 합니다.',
      en: 'The body must be application/x-www-form-urlencoded.',
    },
  },
  signUpRequired: defineError(403, 'sign_up_required', {
    ko: '아직 가입되어 있지 않습니다. 회원가입을 마쳐 주세요.',
    en: 'There is no account yet. Please finish the sign-up.',
    fields: {
      sign_up_token: Token('For `signUpWithProvider`'),
      expires_in: Int32('Seconds the token is valid'),
      suggested: Ref(SuggestedAccount),
    },
  }),
  signUpTokenInvalid: defineError(400, 'sign_up_token_invalid', {
    ko: '회원가입 시간이 지났습니다. 처음부터 다시 시도해 주세요.',
    en: 'The sign-up has expired. Please start again.',
  }),
  linkRequired: defineError(409, 'link_required', {
    ko: '이 이메일로 가입한 계정이 있습니다. 그 계정으로 로그인하면 연결할 수 있습니다.',
    en: 'An account has this email address. Log in to it to connect the two.',
    fields: {
      link_token: Token('For `addIdentity`, after a login to that account'),
      expires_in: Int32('Seconds the token is valid'),
    },
  }),
  linkTokenInvalid: defineError(400, 'link_token_invalid', {
    ko: '연결할 수 있는 시간이 지났습니다. 처음부터 다시 시도해 주세요.',
    en: 'The time to connect the accounts is over. Please start again.',
  }),
  identityTaken: defineError(409, 'identity_taken', {
    ko: '이미 다른 계정에 연결되어 있습니다.',
    en: 'This login already belongs to an account.',
  }),
  identityNotFound: defineError(404, 'identity_not_found', {
    ko: '연결된 로그인 방법이 없습니다.',
    en: 'There is no such connected login.',
  }),
  lastLoginMethod: defineError(409, 'last_login_method', {
    ko: '마지막 남은 로그인 방법은 삭제할 수 없습니다. 비밀번호나 다른 방법을 먼저 추가해 주세요.',
    en: 'This is the only way to log in. Please add a password or another way first.',
  }),
  passkeyRefused: defineError(400, 'passkey_refused', {
    ko: '패스키를 등록하지 못했습니다. 다시 시도해 주세요.',
    en: 'The passkey could not be added. Please try again.',
  }),
  passkeyRejected: defineError(401, 'invalid_credentials', {
    ko: '패스키를 확인하지 못했습니다. 다른 방법으로 로그인해 주세요.',
    en: 'The passkey could not be verified. Please log in in another way.',
  }),
  passkeyNotFound: defineError(404, 'passkey_not_found', {
    ko: '해당 패스키를 찾을 수 없습니다.',
    en: 'There is no such passkey.',
  }),
  tooManyPasskeys: defineError(409, 'too_many_passkeys', {
    ko: '패스키는 10개까지 등록할 수 있습니다.',
    en: 'An account can have at most ten passkeys.',
  }),
  sessionNotFound: defineError(404, 'session_not_found', {
    ko: '해당 기기를 찾을 수 없습니다.',
    en: 'There is no such session.',
  }),
};

export const confirmationErrors = [authErrors.confirmationRequired, authErrors.resetRequired];
export const passwordErrors = [
  authErrors.wrongPassword,
  authErrors.resetRequired,
  authErrors.tooManyPasswords,
];
/** Of those that need a recent confirmation where the account has no password. */
export const authorizationErrors = [...passwordErrors, authErrors.confirmationRequired];
export const passwordLimit = { group: 'password', max: 10, per: 'user' } as const;

/** `username_taken` or `email_taken`, about the field of the request that has the username or the address. */
export function takenError(field: string, definition: ErrorDefinition): ApiError {
  return invalidFields([{ field, code: 'taken', text: definition.text }], definition);
}
