import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Reference } from '../../http/schemas.ts';
import type { AuthDependencies } from '../dependencies.ts';
import { authErrors } from '../errors.ts';
import { CodeSent, ConfirmEmailRequest, EmailRequest, EmailVerification } from '../schemas.ts';
import { createEmailVerification } from '../service/email-verification.ts';

interface Options {
  dependencies: AuthDependencies;
}

/** Proof, by a code in a mail, that an address belongs to who gives it. */
export const emailVerificationRoutes: FastifyPluginAsyncTypebox<Options> = async (app, { dependencies }) => {
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
        tags: ['auth'],
        body: Reference(EmailRequest),
        response: { 200: Reference(CodeSent) },
      },
    },
    async (request) => service.send(request.body.email, request.language),
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
        tags: ['auth'],
        body: Reference(ConfirmEmailRequest),
        response: { 200: Reference(EmailVerification) },
      },
    },
    async (request) => {
      const { email, code } = request.body;
      return service.confirm(email, code, request);
    },
  );
};
