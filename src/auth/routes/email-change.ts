import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { currentUser, requireUser } from '../../http/authentication.ts';
import { requestContext } from '../../http/request-context.ts';
import { EmptyData, Ref } from '../../http/schemas.ts';
import type { AuthDependencies } from '../dependencies.ts';
import { authErrors } from '../errors.ts';
import { EmailChange, EmailChangeUndo, User } from '../schemas.ts';
import { createEmailChange } from '../service/email-change.ts';
import { createEmailChangeUndo } from '../service/email-change-undo.ts';

/** The change of an account's e-mail address, and the way back. */
export const emailChangeRoutes: FastifyPluginAsyncTypebox<AuthDependencies> = async (app, dependencies) => {
  await app.register(changeRoute, dependencies);
  const undo = createEmailChangeUndo(dependencies);

  app.post(
    '/change-email/undo/',
    {
      config: {
        limit: 'change-email-undo',
        message: {
          ko: '이전 이메일로 되돌렸습니다. 비밀번호를 다시 설정하는 링크를 그 주소로 보내 드립니다.',
          en: 'The old e-mail address is back. A link to set a new password is on its way to it.',
        },
        errors: [authErrors.undoLinkInvalid, authErrors.oldEmailTaken],
      },
      schema: {
        operationId: 'undoEmailChange',
        summary: 'Undo a change of e-mail',
        description:
          'Brings back the old address with the link from the mail to it, once and within seven days. The address counts as verified, every session ends, a reset link is mailed to it, and the links of later changes stop working. Until the password is reset, `changePassword`, `changeEmail` and `deleteCurrentUser` are 403 `forbidden`. An unverified account without a store that has taken the address is deleted. With `email_taken`, the link still works: log in to the account that has the address, after a password reset where necessary, and delete it or change its address.',
        body: Ref(EmailChangeUndo),
        response: { 200: Ref(EmptyData) },
      },
    },
    async (request) => {
      await undo(request.body.token, requestContext(request));
      return {};
    },
  );
};

const changeRoute: FastifyPluginAsyncTypebox<AuthDependencies> = async (app, dependencies) => {
  await app.register(requireUser);
  const changeEmail = createEmailChange(dependencies);

  app.post(
    '/change-email/',
    {
      config: {
        limit: 'password',
        message: { ko: '이메일을 변경했습니다.', en: 'Your e-mail address has been changed.' },
        errors: [
          authErrors.wrongPassword,
          authErrors.resetRequired,
          authErrors.tooManyPasswords,
          authErrors.invalidCode,
          authErrors.verificationTokenInvalid,
          authErrors.newEmailTaken,
        ],
      },
      schema: {
        operationId: 'changeEmail',
        summary: 'Change the e-mail address',
        description:
          'Takes what proves the new address: the code that `email-verify/send/` mailed to it, or the `verification_token` for the link of that mail, which works where somebody else used up the tries of the code. The new address is verified, every session but the current one ends, and reset links and codes of the old address stop working. If the old address was verified, it gets a notice with a link that undoes the change within seven days. A wrong password does not use up an attempt of the code, and `email_taken` uses up neither code nor token: an unverified account has the address, and a password reset is the way into it. `too_many_attempts` is about the password or the code.',
        body: Ref(EmailChange),
        response: { 200: Ref(User) },
      },
    },
    async (request) => changeEmail(currentUser(request), request.body, requestContext(request)),
  );
};
