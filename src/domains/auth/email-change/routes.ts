import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { currentUser } from '../../../http/authentication.ts';
import { requestContext } from '../../../http/request-context.ts';
import { EmptyData, emptyData, Ref } from '../../../http/schemas.ts';
import { EmailChange, EmailLink } from '../codes/schemas.ts';
import { authErrors, authorizationErrors, passwordLimit } from '../errors.ts';
import { User } from '../schemas.ts';
import type { EmailChangeService } from './service.ts';

/** A change of the email address. */
export const emailChangeRoutes: FastifyPluginAsyncTypebox<EmailChangeService> = async (app, emailChange) => {
  app.post('/change-email/', {
    config: {
      access: 'user',
      limit: passwordLimit,
      message: { ko: '이메일을 변경했습니다.', en: 'Your email address has been changed.' },
      errors: [
        ...authorizationErrors,
        authErrors.invalidCode,
        authErrors.verificationTokenInvalid,
        authErrors.newEmailTaken,
      ],
    },
    schema: {
      operationId: 'changeEmail',
      summary: 'Change the email address',
      description:
        'Takes what proves the new address: the code that `email-verify/send/` mailed to it, or the `verification_token` for the link of that mail, which works where somebody else used up the tries of the code. The new address is verified, every session but the current one ends, and reset links and codes of the old address stop working. If the old address was verified, it gets a notice with a link that undoes the change within seven days. A wrong password does not use up an attempt of the code, and `email_taken` uses up neither code nor token: an unverified account has the address, and a password reset is the way into it. `too_many_attempts` is about the password or the code.',
      body: Ref(EmailChange),
      response: { 200: Ref(User) },
    },
    handler: async (request) =>
      emailChange.change(currentUser(request), request.body, requestContext(request)),
  });

  app.post('/change-email/undo/', {
    config: {
      access: 'anyone',
      limit: { group: 'change-email-undo', max: 30 },
      message: {
        ko: '이전 이메일로 되돌렸습니다. 비밀번호를 다시 설정하는 링크를 그 주소로 보내 드립니다.',
        en: 'The old email address is back. A link to set a new password is on its way to it.',
      },
      errors: [authErrors.undoLinkInvalid, authErrors.oldEmailTaken],
    },
    schema: {
      operationId: 'undoEmailChange',
      summary: 'Undo a change of email',
      description:
        'Brings back the old address with the link from the mail to it, once and within seven days. The address counts as verified, every session ends, a reset link is mailed to it, and the links of later changes stop working. Until the password is reset, `changePassword`, `changeEmail` and `deleteCurrentUser` are 403 `forbidden`. An unverified account without a store that has taken the address is deleted. With `email_taken`, the link still works: log in to the account that has the address, after a password reset where necessary, and delete it or change its address.',
      body: Ref(EmailLink),
      response: { 200: Ref(EmptyData) },
    },
    handler: async (request) => emptyData(emailChange.undo(request.body.token, requestContext(request))),
  });
};
