import { currentUser } from '../../../http/authentication.ts';
import { errorsOfForms } from '../../../http/errors.ts';
import { requestContext } from '../../../http/request-context.ts';
import { operation, type Routes } from '../../../http/route-config.ts';
import { EmptyData, emptyData, Ref } from '../../../http/schemas.ts';
import { authErrors, authorizationErrors, passwordLimit } from '../errors.ts';
import * as schemas from '../schemas.ts';
import type { EmailService } from './service.ts';

const alreadyRequested = {
  ko: '이미 접수된 요청이 있습니다. 메일함을 확인하시고, 메일이 없으면 잠시 후 다시 요청해 주세요.',
  en: 'This was requested already. Please check your inbox; if there is no mail, try again in a while.',
};

export const emailRoutes: Routes<EmailService> = async (app, emails) => {
  app.post('/change-email/', {
    config: {
      ...operation('user', '이메일을 변경했습니다.', 'Your email address has been changed.'),
      limit: passwordLimit,
      errors: [
        ...authorizationErrors,
        authErrors.invalidCode,
        authErrors.verificationTokenInvalid,
        authErrors.emailTaken,
      ],
    },
    schema: {
      operationId: 'changeEmail',
      summary: 'Change the email address',
      description:
        'Takes what proves the new address: the code that `email-verify/send/` mailed to it, or the `verification_token` for the link of that mail, which works where somebody else used up the tries of the code. The new address is verified, every session but the current one ends, and reset links and codes of the old address stop working. If the old address was verified, it gets a notice with a link that undoes the change within seven days. A wrong password does not use up an attempt of the code, and `email_taken` uses up neither code nor token: an unverified account has the address, and a password reset is the way into it. `too_many_attempts` is about the password or the code.',
      body: Ref(schemas.EmailChange),
      response: { 200: Ref(schemas.User) },
    },
    handler: async (request) => emails.change(currentUser(request), request.body, requestContext(request)),
  });

  app.post('/change-email/undo/', {
    config: {
      ...operation(
        'anyone',
        '이전 이메일로 되돌렸습니다. 비밀번호를 다시 설정하는 링크를 그 주소로 보내 드립니다.',
        'The old email address is back. A link to set a new password is on its way to it.',
      ),
      errors: [authErrors.undoLinkInvalid, authErrors.oldEmailTaken],
    },
    schema: {
      operationId: 'undoEmailChange',
      summary: 'Undo a change of email',
      description:
        'Brings back the old address with the link from the mail to it, once and within seven days. The address counts as verified, every session ends, a reset link is mailed to it, and the links of later changes stop working. Until the password is reset, `changePassword`, `changeEmail` and `deleteCurrentUser` are 403 `forbidden`. An unverified account without a store that has taken the address is deleted. With `email_taken`, the link still works: log in to the account that has the address, after a password reset where necessary, and delete it or change its address.',
      body: Ref(schemas.EmailLink),
      response: { 200: Ref(EmptyData) },
    },
    handler: async (request) => emptyData(emails.undo(request.body.token, requestContext(request))),
  });

  app.post('/email-verify/send/', {
    config: {
      ...operation(
        'optional',
        '입력하신 이메일로 인증번호를 보내 드립니다.',
        'We are sending a code to this email address.',
      ),
      limit: { group: 'email-verify-send', max: 10 },
      alternateMessage: {
        ko: '인증번호를 이미 보내 드렸습니다. 메일함을 확인해 주세요. 메일이 없으면 잠시 후 다시 요청해 주세요.',
        en: 'A code was sent already. Please check your inbox; if there is no mail, try again in a while.',
      },
    },
    schema: {
      operationId: 'sendVerificationCode',
      summary: 'Send email verification code',
      description:
        'Mails a code of six digits and a link; an address that has a verified account gets a mail that says so instead. The response is the same for every address; within the cooldown and beyond the hourly cap `accepted` is false, and no mail is sent. A newer code voids the older one with its link.',
      body: Ref(schemas.EmailAddress),
      response: { 200: Ref(schemas.CodeSent) },
    },
    handler: async (request) => emails.sendCode(request.body.email, requestContext(request)),
  });

  app.post('/email-verify/confirm/', {
    config: {
      ...operation('optional', '이메일이 인증되었습니다.', 'The email address is verified.'),
      limit: { group: 'email-verify-confirm', max: 30 },
      errors: [authErrors.invalidCode, authErrors.tooManyCodeAttempts],
    },
    schemaErrorFormatter: errorsOfForms({ code: schemas.EmailCode, token: schemas.EmailLink }),
    schema: {
      operationId: 'confirmEmail',
      summary: 'Confirm email verification',
      description:
        'Checks the code, which may be tried five times, or the token of the link in the same mail, which has no limit of tries. One of them works, once. It verifies the account of the access token, if that has the address, whichever request caused the mail. Without an access token it verifies no account. The `verification_token` proves the address for `signUp` and `changeEmail`.',
      body: Ref(schemas.EmailConfirmation),
      response: { 200: Ref(schemas.EmailVerification) },
    },
    handler: async (request) => emails.confirm(request.body, request.currentUser, requestContext(request)),
  });

  app.post('/reset-password-request/', {
    config: {
      ...operation(
        'anyone',
        '가입된 이메일이면 비밀번호 재설정 링크를 보내 드립니다.',
        'If the address has an account, a reset link is on its way.',
      ),
      limit: { group: 'reset-password-request', max: 10 },
      alternateMessage: alreadyRequested,
    },
    schema: {
      operationId: 'requestPasswordReset',
      summary: 'Request password reset',
      description:
        'Mails a link to the address if it has an account. The response is the same for every address; within the cooldown and beyond the hourly cap `accepted` is false, and no mail is sent. A newer link voids the older one.',
      body: Ref(schemas.EmailAddress),
      response: { 200: Ref(schemas.MailSent) },
    },
    handler: async (request) => emails.requestLink(request.body.email, requestContext(request)),
  });

  app.get('/reset-password-validate/', {
    config: {
      ...operation('anyone', '사용할 수 있는 링크입니다.', 'The link works.'),
      limit: { group: 'reset-password-validate', max: 30 },
      errors: [authErrors.resetLinkInvalid],
    },
    schema: {
      operationId: 'validatePasswordReset',
      summary: 'Validate password reset link',
      description: 'Tells whether a link still works, and does not use it up.',
      querystring: schemas.ResetLinkQuery,
      response: { 200: Ref(schemas.ResetLink) },
    },
    handler: async ({ query }) => {
      const { expiresAt } = await emails.openLink(query);
      return { expires_at: expiresAt.toISOString() };
    },
  });

  app.post('/reset-password-confirm/', {
    config: {
      ...operation('anyone', '비밀번호를 재설정했습니다.', 'Your password has been reset.'),
      limit: { group: 'reset-password-confirm', max: 30 },
      errors: [authErrors.resetLinkInvalid],
    },
    schema: {
      operationId: 'confirmPasswordReset',
      summary: 'Complete password reset',
      description:
        'Sets a new password with the link from the mail, once. Every session ends, the email address counts as verified, and a notice is mailed.',
      body: Ref(schemas.PasswordReset),
      response: { 200: Ref(EmptyData) },
    },
    handler: async (request) => emptyData(emails.reset(request.body, requestContext(request))),
  });

  app.post('/find-id/', {
    config: {
      ...operation(
        'anyone',
        '가입된 이메일이면 아이디를 메일로 보내 드립니다.',
        'If the address has an account, its username is on its way.',
      ),
      limit: { group: 'find-id', max: 10 },
      alternateMessage: alreadyRequested,
    },
    schema: {
      operationId: 'findUserId',
      summary: 'Find username',
      description:
        'Mails the username to the address if it has an account. The response is the same for every address; within the cooldown and beyond the hourly cap `accepted` is false, and no mail is sent.',
      body: Ref(schemas.EmailAddress),
      response: { 200: Ref(schemas.MailSent) },
    },
    handler: async (request) => emails.findUsername(request.body.email, requestContext(request)),
  });
};
