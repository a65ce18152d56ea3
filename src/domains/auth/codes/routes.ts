import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifySchemaValidationError } from 'fastify';
import { acceptUser } from '../../../http/authentication.ts';
import { type ApiError, invalidFields } from '../../../http/errors.ts';
import { requestContext } from '../../../http/request-context.ts';
import { EmptyData, emptyData, Ref } from '../../../http/schemas.ts';
import { describeErrors } from '../../../http/validator-errors.ts';
import { authErrors } from '../errors.ts';
import {
  CodeSent,
  EmailAddress,
  EmailCode,
  EmailConfirmation,
  EmailLink,
  EmailVerification,
  MailSent,
  PasswordReset,
  ResetLink,
  ResetLinkQuery,
} from '../schemas.ts';
import type { EmailVerification as EmailVerificationService, Recovery } from './service.ts';

const alreadyRequested = {
  ko: '이미 접수된 요청이 있습니다. 메일함을 확인하시고, 메일이 없으면 잠시 후 다시 요청해 주세요.',
  en: 'This was requested already. Please check your inbox; if there is no mail, try again in a while.',
};

/** Verification of an email address by a code or a link. */
export const emailVerificationRoutes: FastifyPluginAsyncTypebox<{
  emailVerification: EmailVerificationService;
}> = async (app, { emailVerification }) => {
  await app.register(acceptUser);

  app.post(
    '/email-verify/send/',
    {
      config: {
        limit: { group: 'email-verify-send', max: 10 },
        message: {
          ko: '입력하신 이메일로 인증번호를 보내 드립니다.',
          en: 'We are sending a code to this email address.',
        },
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
        body: Ref(EmailAddress),
        response: { 200: Ref(CodeSent) },
      },
    },
    async (request) => emailVerification.send(request.body.email, requestContext(request)),
  );

  app.post(
    '/email-verify/confirm/',
    {
      config: {
        limit: { group: 'email-verify-confirm', max: 30 },
        message: { ko: '이메일이 인증되었습니다.', en: 'The email address is verified.' },
        errors: [authErrors.invalidCode, authErrors.tooManyCodeAttempts],
      },
      schemaErrorFormatter: confirmationError,
      schema: {
        operationId: 'confirmEmail',
        summary: 'Confirm email verification',
        description:
          'Checks the code, which may be tried five times, or the token of the link in the same mail, which has no limit of tries. One of them works, once. It verifies the account of the access token, if that has the address, whichever request caused the mail. Without an access token it verifies no account. The `verification_token` proves the address for `signUp` and `changeEmail`.',
        body: Ref(EmailConfirmation),
        response: { 200: Ref(EmailVerification) },
      },
    },
    async (request) => emailVerification.confirm(request.body, request.currentUser, requestContext(request)),
  );
};

/** Recovery of a forgotten password or username. */
export const recoveryRoutes: FastifyPluginAsyncTypebox<{ recovery: Recovery }> = async (
  app,
  { recovery },
) => {
  app.post(
    '/reset-password-request/',
    {
      config: {
        limit: { group: 'reset-password-request', max: 10 },
        message: {
          ko: '가입된 이메일이면 비밀번호 재설정 링크를 보내 드립니다.',
          en: 'If the address has an account, a reset link is on its way.',
        },
        alternateMessage: alreadyRequested,
      },
      schema: {
        operationId: 'requestPasswordReset',
        summary: 'Request password reset',
        description:
          'Mails a link to the address if it has an account. The response is the same for every address; within the cooldown and beyond the hourly cap `accepted` is false, and no mail is sent. A newer link voids the older one.',
        body: Ref(EmailAddress),
        response: { 200: Ref(MailSent) },
      },
    },
    async (request) => recovery.requestLink(request.body.email, requestContext(request)),
  );

  app.get(
    '/reset-password-validate/',
    {
      config: {
        limit: { group: 'reset-password-validate', max: 30 },
        message: { ko: '사용할 수 있는 링크입니다.', en: 'The link works.' },
        errors: [authErrors.resetLinkInvalid],
      },
      schema: {
        operationId: 'validatePasswordReset',
        summary: 'Validate password reset link',
        description: 'Tells whether a link still works, and does not use it up.',
        querystring: ResetLinkQuery,
        response: { 200: Ref(ResetLink) },
      },
    },
    async (request) => ({ expires_at: (await recovery.validate(request.query)).toISOString() }),
  );

  app.post(
    '/reset-password-confirm/',
    {
      config: {
        limit: { group: 'reset-password-confirm', max: 30 },
        message: { ko: '비밀번호를 재설정했습니다.', en: 'Your password has been reset.' },
        errors: [authErrors.resetLinkInvalid],
      },
      schema: {
        operationId: 'confirmPasswordReset',
        summary: 'Complete password reset',
        description:
          'Sets a new password with the link from the mail, once. Every session ends, the email address counts as verified, and a notice is mailed.',
        body: Ref(PasswordReset),
        response: { 200: Ref(EmptyData) },
      },
    },
    async (request) => {
      const { new_password, ...link } = request.body;
      return emptyData(recovery.confirm(link, new_password, requestContext(request)));
    },
  );

  app.post(
    '/find-id/',
    {
      config: {
        limit: { group: 'find-id', max: 10 },
        message: {
          ko: '가입된 이메일이면 아이디를 메일로 보내 드립니다.',
          en: 'If the address has an account, its username is on its way.',
        },
        alternateMessage: alreadyRequested,
      },
      schema: {
        operationId: 'findUserId',
        summary: 'Find user id',
        description:
          'Mails the username to the address if it has an account. The response is the same for every address; within the cooldown and beyond the hourly cap `accepted` is false, and no mail is sent.',
        body: Ref(EmailAddress),
        response: { 200: Ref(MailSent) },
      },
    },
    async (request) => recovery.findId(request.body.email, requestContext(request)),
  );
};

/** The validator reports the errors of both forms. With a token the link is meant, else the code. */
function confirmationError(errors: FastifySchemaValidationError[], part: string): ApiError {
  const isCode = errors.some(
    ({ keyword, params }) => keyword === 'required' && params['missingProperty'] === 'token',
  );
  const form = isCode ? EmailCode : EmailLink;
  const isMeant = ({ schemaPath }: FastifySchemaValidationError) => schemaPath.startsWith(`${form.$id}#`);
  return invalidFields(describeErrors(part === 'body' ? errors.filter(isMeant) : errors));
}
