import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { requestContext } from '../../../http/request-context.ts';
import { EmptyData, emptyData, Ref } from '../../../http/schemas.ts';
import { EmailAddress, MailSent, PasswordReset, ResetLink, ResetLinkQuery } from '../codes/schemas.ts';
import { authErrors } from '../errors.ts';
import type { RecoveryService } from './service.ts';

const alreadyRequested = {
  ko: '이미 접수된 요청이 있습니다. 메일함을 확인하시고, 메일이 없으면 잠시 후 다시 요청해 주세요.',
  en: 'This was requested already. Please check your inbox; if there is no mail, try again in a while.',
};

/** Recovery of a forgotten password or username. */
export const recoveryRoutes: FastifyPluginAsyncTypebox<RecoveryService> = async (app, recovery) => {
  app.post('/reset-password-request/', {
    config: {
      access: 'anyone',
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
    handler: async (request) => recovery.requestLink(request.body.email, requestContext(request)),
  });

  app.get('/reset-password-validate/', {
    config: {
      access: 'anyone',
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
    handler: async (request) => ({
      expires_at: (await recovery.openLink(request.query)).expiresAt.toISOString(),
    }),
  });

  app.post('/reset-password-confirm/', {
    config: {
      access: 'anyone',
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
    handler: async (request) => emptyData(recovery.reset(request.body, requestContext(request))),
  });

  app.post('/find-id/', {
    config: {
      access: 'anyone',
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
    handler: async (request) => recovery.findUsername(request.body.email, requestContext(request)),
  });
};
