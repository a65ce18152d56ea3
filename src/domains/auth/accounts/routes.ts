import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { currentUser } from '../../../http/authentication.ts';
import { idempotencyKey, sendCreated } from '../../../http/idempotency.ts';
import { requestContext } from '../../../http/request-context.ts';
import { EmptyData, emptyData, Ref } from '../../../http/schemas.ts';
import type { EmailChangeService } from '../email-change/service.ts';
import { authErrors } from '../errors.ts';
import {
  AccountDeletion,
  EmailChange,
  EmailChangeUndo,
  NewUser,
  PasswordChange,
  User,
  UserChanges,
} from '../schemas.ts';
import type { AccountService } from './service.ts';

interface AccountRoutesOptions {
  account: AccountService;
  emailChange: EmailChangeService;
}

/** Of the operations that take the password of the user. */
export const passwordLimit = { group: 'password', max: 10, per: 'user' } as const;
/** What may be wrong with it. */
export const passwordErrors = [
  authErrors.wrongPassword,
  authErrors.resetRequired,
  authErrors.tooManyPasswords,
];
/** Of those where an account without a password needs a confirmation. */
const confirmationErrors = [...passwordErrors, authErrors.confirmationRequired];

/** Sign-up, and the way back from a change of email. */
export const accountRoutes: FastifyPluginAsyncTypebox<AccountRoutesOptions> = async (
  app,
  { account, emailChange },
) => {
  app.post(
    '/signup/',
    {
      config: {
        limit: { group: 'signup', max: 20 },
        message: { ko: '회원가입이 완료되었습니다.', en: 'Your account has been created.' },
        errors: [authErrors.verificationTokenInvalid, authErrors.usernameTaken, authErrors.emailTaken],
        idempotent: true,
      },
      schema: {
        operationId: 'signUp',
        summary: 'Sign up',
        description:
          'Creates an account. With a `verification_token` its email address is verified at once, and an unverified account without a store that has the address is replaced. Otherwise a code and a link are mailed, to be confirmed at `email-verify/confirm/` after a login. After `email_taken`, the owner of the address signs up again with a `verification_token`, or resets the password. An error does not use the token up.',
        body: Ref(NewUser),
        response: { 201: Ref(User) },
      },
    },
    async (request, reply) => {
      const key = idempotencyKey(request);
      return sendCreated(reply, await account.signUp(request.body, key, requestContext(request)));
    },
  );

  app.post(
    '/change-email/undo/',
    {
      config: {
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
        body: Ref(EmailChangeUndo),
        response: { 200: Ref(EmptyData) },
      },
    },
    async (request) => emptyData(emailChange.undo(request.body.token, requestContext(request))),
  );
};

/** The account of the logged-in user. */
export const ownAccountRoutes: FastifyPluginAsyncTypebox<AccountRoutesOptions> = async (
  app,
  { account, emailChange },
) => {
  app.get(
    '/me/',
    {
      config: { message: { ko: '내 정보를 조회했습니다.', en: 'Here is your account.' } },
      schema: {
        operationId: 'getCurrentUser',
        summary: 'Current user information',
        description: 'The account that the access token belongs to.',
        response: { 200: Ref(User) },
      },
    },
    async (request) => currentUser(request),
  );

  app.patch(
    '/me/',
    {
      config: { message: { ko: '내 정보를 수정했습니다.', en: 'Your account has been changed.' } },
      schema: {
        operationId: 'updateCurrentUser',
        summary: 'Change the name',
        description: 'Changes the given fields of the account that the access token belongs to.',
        body: Ref(UserChanges),
        response: { 200: Ref(User) },
      },
    },
    async (request) => {
      const user = currentUser(request);
      return account.rename(user, request.body.name ?? user.name);
    },
  );

  app.delete(
    '/me/',
    {
      config: {
        limit: passwordLimit,
        message: { ko: '회원 탈퇴가 완료되었습니다.', en: 'Your account has been deleted.' },
        errors: confirmationErrors,
      },
      schema: {
        operationId: 'deleteCurrentUser',
        summary: 'Delete the account',
        description:
          'Removes the account permanently, with its sessions. Its posts disappear, pending partnership requests are withdrawn, accepted ones end, and the username and the email address are free again.',
        body: Ref(AccountDeletion),
        response: { 200: Ref(EmptyData) },
      },
    },
    async (request) =>
      emptyData(account.deleteAccount(currentUser(request), request.body.password, requestContext(request))),
  );

  app.post(
    '/change-password/',
    {
      config: {
        limit: passwordLimit,
        message: { ko: '비밀번호를 변경했습니다.', en: 'Your password has been changed.' },
        errors: passwordErrors,
      },
      schema: {
        operationId: 'changePassword',
        summary: 'Change the password',
        description:
          'Every session but the current one ends, a reset link that is on its way stops working, and a notice is mailed. The link keeps working for an unverified account with a store: the owner of its address has no other way in.',
        body: Ref(PasswordChange),
        response: { 200: Ref(EmptyData) },
      },
    },
    async (request) => {
      const user = currentUser(request);
      return emptyData(account.changePassword(user, request.body, requestContext(request)));
    },
  );

  app.post(
    '/change-email/',
    {
      config: {
        limit: passwordLimit,
        message: { ko: '이메일을 변경했습니다.', en: 'Your email address has been changed.' },
        errors: [
          ...confirmationErrors,
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
    },
    async (request) => emailChange.change(currentUser(request), request.body, requestContext(request)),
  );
};
