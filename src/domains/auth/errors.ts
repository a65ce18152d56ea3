import {
  ApiError,
  defineError,
  type ErrorDefinition,
  fieldErrorFields,
  retryAfterField,
} from '../../http/errors.ts';
import type { LocalizedText } from '../../http/language.ts';
import { Int32 } from '../../http/schemas.ts';

/** 409: another account has what the request wants. `fields` and `errors` name the field, with their examples. */
const taken = (code: string, field: string, text: LocalizedText) =>
  defineError(409, code, {
    ...text,
    fields: {
      fields: { ...fieldErrorFields.fields, examples: [{ [field]: [text.ko] }] },
      errors: { ...fieldErrorFields.errors, examples: [[{ field, code: 'taken', message: text.ko }]] },
    },
  });

const emailTaken = { ko: '이미 가입된 이메일입니다.', en: 'This email address already has an account.' };

/** Errors of the authentication operations. Those of one code differ in their text and in the field that they name. */
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
  emailTaken: taken('email_taken', 'email', emailTaken),
  newEmailTaken: taken('email_taken', 'new_email', emailTaken),
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
      attempts_left: Int32({
        examples: [4],
        minimum: 0,
        maximum: 5,
        description:
          'How often this code may still be tried. With 0 a new code is needed. Always 0 for the token of a link',
      }),
    },
  }),
  emailLinkInvalid: defineError(400, 'invalid_code', {
    ko: '이메일 인증 링크가 올바르지 않거나 만료되었습니다. 새 인증번호를 받아 주세요.',
    en: 'The link to verify the email address is not valid or has expired. Please ask for a new code.',
  }),
  tooManyCodeAttempts: defineError(429, 'too_many_attempts', {
    ko: '인증번호를 여러 번 잘못 입력했습니다. 새 인증번호를 받아 주세요.',
    en: 'The code was entered incorrectly too many times. Please ask for a new one.',
    fields: retryAfterField,
  }),
  tooManyLogins: defineError(429, 'too_many_attempts', {
    ko: '로그인에 여러 번 실패했습니다. 잠시 후 다시 시도해 주세요.',
    en: 'Too many failed logins. Please try again later.',
    fields: retryAfterField,
  }),
  tooManyPasswords: defineError(429, 'too_many_attempts', {
    ko: '비밀번호를 여러 번 잘못 입력했습니다. 잠시 후 다시 시도해 주세요.',
    en: 'Too many wrong passwords. Please try again later.',
    fields: retryAfterField,
  }),
  resetLinkInvalid: defineError(400, 'reset_link_invalid', {
    ko: '비밀번호 재설정 링크가 올바르지 않거나 만료되었습니다. 다시 요청해 주세요.',
    en: 'The password reset link is not valid or has expired. Please ask for a new one.',
  }),
  undoLinkInvalid: defineError(400, 'undo_link_invalid', {
    ko: '이메일 변경을 되돌리는 링크가 올바르지 않거나 만료되었습니다.',
    en: 'The link to undo the change of email is not valid or has expired.',
  }),
  sessionNotFound: defineError(404, 'session_not_found', {
    ko: '해당 기기를 찾을 수 없습니다.',
    en: 'There is no such session.',
  }),
};

/** `username_taken` or `email_taken`, about the field of the request that has the username or the address. */
export function takenError(field: string, definition: ErrorDefinition): ApiError {
  return new ApiError(definition, { fieldErrors: [{ field, code: 'taken', text: definition.text }] });
}
