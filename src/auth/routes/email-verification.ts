import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { requestContext } from '../../http/request-context.ts';
import { Ref } from '../../http/schemas.ts';
import type { AuthDependencies } from '../dependencies.ts';
import { authErrors } from '../errors.ts';
import { CodeSent, ConfirmEmailRequest, EmailRequest, EmailVerification } from '../schemas.ts';
import { createEmailVerification } from '../service/email-verification.ts';

/** Verification of an e-mail address by a code. */
export const emailVerificationRoutes: FastifyPluginAsyncTypebox<AuthDependencies> = async (
  app,
  dependencies,
) => {
  const service = createEmailVerification(dependencies);

  app.post(
    '/email-verify/send/',
    {
      config: {
        limit: 'email-verify-send',
        message: { ko: '인증번호를 메일로 보냈습니다.', en: 'A code is on its way.' },
      },
      schema: {
        operationId: 'sendVerificationCode',
        summary: 'Send e-mail verification code',
        description:
          'Mails a code of six digits; an address that has a verified account gets a mail that says so instead. The answer is always the same. A newer code voids the older one.',
        body: Ref(EmailRequest),
        response: { 200: Ref(CodeSent) },
      },
    },
    async (request) => service.send(request.body.email, requestContext(request)),
  );

  app.post(
    '/email-verify/confirm/',
    {
      config: {
        limit: 'email-verify-confirm',
        message: { ko: '이메일이 인증되었습니다.', en: 'The e-mail address is verified.' },
        errors: [authErrors.invalidCode, authErrors.tooManyCodeAttempts],
      },
      schema: {
        operationId: 'confirmEmail',
        summary: 'Confirm e-mail verification',
        description:
          'Checks the code, which works once and may be tried five times. An unverified account with the address becomes verified; the token proves the address at sign-up.',
        body: Ref(ConfirmEmailRequest),
        response: { 200: Ref(EmailVerification) },
      },
    },
    async (request) => {
      const { email, code } = request.body;
      return service.confirm(email, code, requestContext(request));
    },
  );
};
