import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { currentUser, requireUser } from '../../http/authentication.ts';
import { idempotencyKey, sendCreated } from '../../http/idempotency.ts';
import { requestContext } from '../../http/request-context.ts';
import { EmptyData, Ref } from '../../http/schemas.ts';
import type { AuthDependencies } from '../dependencies.ts';
import { authErrors } from '../errors.ts';
import { AccountDeletion, NewUser, PasswordChange, User, UserChanges } from '../schemas.ts';
import { createAccountService } from '../service/account.ts';
import { createSignUp } from '../service/sign-up.ts';

/** Sign-up, and the account of the logged-in user. */
export const accountRoutes: FastifyPluginAsyncTypebox<AuthDependencies> = async (app, dependencies) => {
  const signUp = createSignUp(dependencies);

  app.post(
    '/signup/',
    {
      config: {
        limit: 'signup',
        message: { ko: '회원가입이 완료되었습니다.', en: 'Your account has been created.' },
        errors: [authErrors.verificationTokenInvalid, authErrors.usernameTaken, authErrors.emailTaken],
        idempotent: true,
      },
      schema: {
        operationId: 'signUp',
        summary: 'Sign up',
        description:
          'Creates an account. With a `verification_token` its e-mail address is verified at once, and an unverified account without a store that has the address is replaced. Otherwise a code and a link are mailed, to be confirmed at `email-verify/confirm/` after a login. After `email_taken`, the owner of the address signs up again with a `verification_token`, or resets the password. A failure does not use the token up.',
        body: Ref(NewUser),
        response: { 201: Ref(User) },
      },
    },
    async (request, reply) => {
      const key = idempotencyKey(request, undefined);
      return sendCreated(reply, await signUp(request.body, key, requestContext(request)));
    },
  );

  await app.register(ownAccountRoutes, dependencies);
};

const ownAccountRoutes: FastifyPluginAsyncTypebox<AuthDependencies> = async (app, dependencies) => {
  await app.register(requireUser);
  const service = createAccountService(dependencies);

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
      return service.rename(user, request.body.name ?? user.name, requestContext(request));
    },
  );

  app.delete(
    '/me/',
    {
      config: {
        limit: 'password',
        message: { ko: '회원 탈퇴가 완료되었습니다.', en: 'Your account has been deleted.' },
        errors: [authErrors.wrongPassword, authErrors.resetRequired, authErrors.tooManyPasswords],
      },
      schema: {
        operationId: 'deleteCurrentUser',
        summary: 'Delete the account',
        description:
          'Removes the account for good, with its sessions. Its posts disappear, partnership requests that wait for an answer are withdrawn, accepted ones end, and the username and the e-mail address are free again.',
        body: Ref(AccountDeletion),
        response: { 200: Ref(EmptyData) },
      },
    },
    async (request) => {
      await service.deleteAccount(currentUser(request), request.body.password, requestContext(request));
      return {};
    },
  );

  app.post(
    '/change-password/',
    {
      config: {
        limit: 'password',
        message: { ko: '비밀번호를 변경했습니다.', en: 'Your password has been changed.' },
        errors: [authErrors.wrongPassword, authErrors.resetRequired, authErrors.tooManyPasswords],
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
      const { current_password, new_password } = request.body;
      const user = currentUser(request);
      await service.changePassword(user, current_password, new_password, requestContext(request));
      return {};
    },
  );
};
