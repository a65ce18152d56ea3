import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifySchemaValidationError } from 'fastify';
import { type ApiError, invalidFields } from '../../../http/errors.ts';
import { describeErrors } from '../../../http/field-errors.ts';
import { requestContext } from '../../../http/request-context.ts';
import { Ref } from '../../../http/schemas.ts';
import { authErrors } from '../errors.ts';
import {
  CodeSent,
  EmailAddress,
  EmailCode,
  EmailConfirmation,
  EmailLink,
  EmailVerification,
} from './schemas.ts';
import type { EmailCodes } from './service.ts';

/** Verification of an email address by a code or a link. */
export const emailCodeRoutes: FastifyPluginAsyncTypebox<EmailCodes> = async (app, codes) => {
  app.post('/email-verify/send/', {
    config: {
      access: 'optional',
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
    handler: async (request) => codes.send(request.body.email, requestContext(request)),
  });

  app.post('/email-verify/confirm/', {
    config: {
      access: 'optional',
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
    handler: async (request) => codes.confirm(request.body, request.currentUser, requestContext(request)),
  });
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
