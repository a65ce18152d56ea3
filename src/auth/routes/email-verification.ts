import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { acceptUser } from '../../http/authentication.ts';
import { requestContext } from '../../http/request-context.ts';
import { Ref } from '../../http/schemas.ts';
import type { AuthDependencies } from '../dependencies.ts';
import { authErrors } from '../errors.ts';
import { CodeSent, EmailAddress, EmailCode, EmailVerification } from '../schemas.ts';
import { createEmailVerification } from '../service/email-verification.ts';

/** Verification of an e-mail address by a code. */
export const emailVerificationRoutes: FastifyPluginAsyncTypebox<AuthDependencies> = async (
  app,
  dependencies,
) => {
  await app.register(acceptUser);
  const service = createEmailVerification(dependencies);

  app.post(
    '/email-verify/send/',
    {
      config: {
        limit: 'email-verify-send',
        message: {
          ko: '입력하신 이메일로 인증번호를 보내 드립니다.',
          en: 'We are sending a code to this e-mail address.',
        },
        otherMessage: {
          ko: '인증번호를 이미 보내 드렸습니다. 메일함을 확인해 주세요. 메일에 본인의 아이디가 아닌 아이디가 있거나 메일이 없으면 잠시 후 다시 요청해 주세요.',
          en: 'A code was sent already. Please check your inbox. If there is no mail, or it names a user ID that is not yours, try again in a while.',
        },
      },
      schema: {
        operationId: 'sendVerificationCode',
        summary: 'Send e-mail verification code',
        description:
          'Mails a code of six digits; an address that has a verified account gets a mail that says so instead. The answer is the same for every address; within the cooldown and beyond the hourly cap `accepted` is false, and no mail is sent. A newer code voids the older one.',
        body: Ref(EmailAddress),
        response: { 200: Ref(CodeSent) },
      },
    },
    async (request, reply) => {
      const sent = await service.send(request.body.email, request.currentUser, requestContext(request));
      reply.hasOtherMessage = !sent.accepted;
      return sent;
    },
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
          'Checks the code, which works once and may be tried five times. A code that sign-up mailed verifies that account. A code from `email-verify/send/` verifies the account of the access token, if that has the address. The `verification_token` proves the address at sign-up.',
        body: Ref(EmailCode),
        response: { 200: Ref(EmailVerification) },
      },
    },
    async (request) => {
      const { email, code } = request.body;
      return service.confirm(email, code, request.currentUser, requestContext(request));
    },
  );
};
