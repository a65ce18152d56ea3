import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { currentUser, requireUser, tokenNotValid } from '../../http/authentication.ts';
import { httpErrors } from '../../http/errors.ts';
import { type Idempotency, IdempotencyHeaders } from '../../http/idempotency.ts';
import { Nothing, Reference } from '../../http/schemas.ts';
import type { AuthDependencies } from '../dependencies.ts';
import { authErrors } from '../errors.ts';
import {
  ChangePasswordRequest,
  DeleteUserRequest,
  SignupRequest,
  UpdateUserRequest,
  User,
} from '../schemas.ts';
import { createAccountService } from '../service/account.ts';
import { createSignUp } from '../service/sign-up.ts';

interface Options {
  dependencies: AuthDependencies;
  idempotency: Idempotency;
}

/** Sign-up, and the account of who is logged in. */
export const accountRoutes: FastifyPluginAsyncTypebox<Options> = async (
  app,
  { dependencies, idempotency },
) => {
  const signUp = createSignUp(dependencies);

  app.post(
    '/signup/',
    {
      config: {
        limit: 'signup',
        message: { ko: '회원가입이 완료되었습니다.', en: 'Your account has been created.' },
        errors: [
          authErrors.verificationTokenInvalid,
          authErrors.usernameTaken,
          authErrors.emailTaken,
          httpErrors.idempotencyConflict,
        ],
      },
      schema: {
        operationId: 'signUp',
        summary: 'Sign up',
        description:
          'Creates an account. With a `verification_token` its e-mail address is verified at once; otherwise a code is mailed, to be confirmed at `email-verify/confirm/`.',
        tags: ['auth'],
        headers: IdempotencyHeaders,
        body: Reference(SignupRequest),
        response: { 201: Reference(User) },
      },
    },
    async (request, reply) => {
      const user = await idempotency(request, null, (transaction) =>
        signUp(transaction, request.body, request),
      );
      return reply.code(201).send(user);
    },
  );

  await app.register(ownAccountRoutes, { dependencies });
};

const ownAccountRoutes: FastifyPluginAsyncTypebox<Pick<Options, 'dependencies'>> = async (
  app,
  { dependencies },
) => {
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
        tags: ['auth'],
        response: { 200: Reference(User) },
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
        tags: ['auth'],
        body: Reference(UpdateUserRequest),
        response: { 200: Reference(User) },
      },
    },
    async (request) => {
      const user = currentUser(request);
      const { name } = request.body;
      const changed = await dependencies.accounts.rename(user.id, name ?? user.name);
      if (changed === undefined) throw tokenNotValid('access', 'revoked', request.language);
      return changed;
    },
  );

  app.delete(
    '/me/',
    {
      config: {
        message: { ko: '탈퇴가 완료되었습니다.', en: 'Your account has been deleted.' },
        errors: [authErrors.wrongPassword, authErrors.tooManyLogins],
      },
      schema: {
        operationId: 'deleteCurrentUser',
        summary: 'Delete the account',
        description:
          'Removes the account for good, with its sessions. Its posts disappear, partnership requests that wait for an answer are withdrawn, and the username and the e-mail address are free again.',
        tags: ['auth'],
        body: Reference(DeleteUserRequest),
        response: { 200: Reference(Nothing) },
      },
    },
    async (request) => {
      await service.remove(currentUser(request), request.body.password, request);
      return {};
    },
  );

  app.post(
    '/change-password/',
    {
      config: {
        message: { ko: '비밀번호를 변경했습니다.', en: 'Your password has been changed.' },
        errors: [authErrors.wrongPassword, authErrors.tooManyLogins],
      },
      schema: {
        operationId: 'changePassword',
        summary: 'Change the password',
        description:
          'Every session but the current one ends, a reset link on its way stops to work, and a notice is mailed.',
        tags: ['auth'],
        body: Reference(ChangePasswordRequest),
        response: { 200: Reference(Nothing) },
      },
    },
    async (request) => {
      const { current_password, new_password } = request.body;
      await service.changePassword(currentUser(request), current_password, new_password, request);
      return {};
    },
  );
};
