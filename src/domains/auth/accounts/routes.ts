import { currentUser } from '../../../http/authentication.ts';
import { sendCreated } from '../../../http/conditions.ts';
import { requestContext } from '../../../http/request-context.ts';
import { operation, type Routes } from '../../../http/route-config.ts';
import { EmptyData, emptyData, Ref } from '../../../http/schemas.ts';
import { authErrors, authorizationErrors, passwordErrors, passwordLimit } from '../errors.ts';
import { AccountDeletion, NewUser, PasswordChange, toUser, User, UserChanges } from '../schemas.ts';
import type { AccountService } from './service.ts';

export const accountRoutes: Routes<AccountService> = async (app, accounts) => {
  app.post('/signup/', {
    config: {
      ...operation('anyone', '회원가입이 완료되었습니다.', 'Your account has been created.'),
      limit: { group: 'signup', max: 20 },
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
    handler: async (request, reply) =>
      sendCreated(reply, (key) => accounts.signUp(request.body, requestContext(request), key)),
  });

  app.get('/me/', {
    config: operation('user', '내 정보를 조회했습니다.', 'Here is your account.'),
    schema: {
      operationId: 'getCurrentUser',
      summary: 'Current user information',
      description: 'The account that the access token belongs to.',
      response: { 200: Ref(User) },
    },
    handler: async (request) => toUser(currentUser(request)),
  });

  app.patch('/me/', {
    config: operation('user', '내 정보를 수정했습니다.', 'Your account has been changed.'),
    schema: {
      operationId: 'updateCurrentUser',
      summary: 'Change the name',
      description: 'Changes the given fields of the account that the access token belongs to.',
      body: Ref(UserChanges),
      response: { 200: Ref(User) },
    },
    handler: async (request) => accounts.rename(currentUser(request), request.body),
  });

  app.delete('/me/', {
    config: {
      ...operation('user', '회원 탈퇴가 완료되었습니다.', 'Your account has been deleted.'),
      limit: passwordLimit,
      errors: authorizationErrors,
    },
    schema: {
      operationId: 'deleteCurrentUser',
      summary: 'Delete the account',
      description:
        'Removes the account permanently, with its sessions. Its posts disappear, pending partnership requests are withdrawn, accepted ones end, and the username and the email address are free again.',
      body: Ref(AccountDeletion),
      response: { 200: Ref(EmptyData) },
    },
    handler: async (request) =>
      emptyData(accounts.deleteAccount(currentUser(request), request.body.password, requestContext(request))),
  });

  app.post('/change-password/', {
    config: {
      ...operation('user', '비밀번호를 변경했습니다.', 'Your password has been changed.'),
      limit: passwordLimit,
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
    handler: async (request) =>
      emptyData(accounts.changePassword(currentUser(request), request.body, requestContext(request))),
  });
};
