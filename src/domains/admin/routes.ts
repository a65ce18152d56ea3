import { Type } from '@sinclair/typebox';
import { PageQuery } from '../../http/pagination.ts';
import { operation, type Routes } from '../../http/route-config.ts';
import { BigPathId, EmptyData, emptyData, PathId, Ref } from '../../http/schemas.ts';
import { requestOperator } from './audit.ts';
import * as schemas from './schemas.ts';
import type { FailedMailAdministration, UserAdministration } from './service.ts';

/** What admins do with accounts, and with emails that failed permanently. */
export const adminRoutes: Routes<{
  users: UserAdministration;
  failedMails: FailedMailAdministration;
}> = async (app, { users, failedMails }) => {
  const params = Type.Object({ user_id: PathId('`id` of an account') });

  app.get('/users/', {
    config: operation('admin', '사용자 목록을 조회했습니다.', 'Here are the users.'),
    schema: {
      operationId: 'listUsers',
      summary: 'Find accounts',
      description:
        'Accounts, newest first. A page may have fewer items than `limit`, or none, before the end of the list, because a request examines a bounded number of accounts: continue until `next_cursor` is `null`.',
      querystring: schemas.AdminUserQuery,
      response: { 200: Ref(schemas.AdminUserPage) },
    },
    handler: async (request) => users.list(requestOperator(request), request.query),
  });

  app.get('/users/:user_id/', {
    config: operation('admin', '사용자를 조회했습니다.', 'Here is the user.'),
    schema: {
      operationId: 'getUser',
      summary: 'Read an account',
      description: 'Any account, also a suspended one.',
      params,
      response: { 200: Ref(schemas.AdminUser) },
    },
    handler: async (request) => users.show(requestOperator(request), request.params.user_id),
  });

  app.post('/users/:user_id/suspend/', {
    config: {
      ...operation('admin', '계정을 정지했습니다.', 'The account has been suspended.'),
      errors: [schemas.adminErrors.adminAccount],
    },
    schema: {
      operationId: 'suspendUser',
      summary: 'Suspend an account',
      description:
        'Ends all sessions of the account at once. Until it is reactivated, its user cannot log in and gets no mail, and its store and posts are not found. Of an account that is suspended already, only the reason changes. An admin cannot be suspended here.',
      params,
      body: Ref(schemas.Suspension),
      response: { 200: Ref(schemas.AdminUser) },
    },
    handler: async (request) =>
      users.suspend(requestOperator(request), request.params.user_id, request.body.reason),
  });

  app.post('/users/:user_id/reactivate/', {
    config: {
      ...operation('admin', '계정 정지를 해제했습니다.', 'The suspension of the account has been lifted.'),
      errors: [schemas.adminErrors.adminAccount],
    },
    schema: {
      operationId: 'reactivateUser',
      summary: 'Lift the suspension of an account',
      description:
        'The user can log in again; the store and posts are found again, unless they are hidden because of a report. Nothing happens to an account that is not suspended. The account of an admin is 403 `forbidden`.',
      params,
      response: { 200: Ref(schemas.AdminUser) },
    },
    handler: async (request) => users.reactivate(requestOperator(request), request.params.user_id),
  });

  app.delete('/users/:user_id/sessions/', {
    config: operation(
      'admin',
      '사용자를 모든 기기에서 로그아웃했습니다.',
      'All sessions of the user have ended.',
    ),
    schema: {
      operationId: 'endUserSessions',
      summary: 'End all sessions of an account',
      description: 'Their tokens are rejected at once. The user can log in again.',
      params,
      response: { 200: Ref(EmptyData) },
    },
    handler: async (request) =>
      emptyData(users.endSessions(requestOperator(request), request.params.user_id)),
  });

  app.delete('/users/:user_id/second-factor/', {
    config: operation('admin', '사용자의 2단계 인증을 껐습니다.', 'The second factor of the user is off.'),
    schema: {
      operationId: 'removeUserSecondFactor',
      summary: 'Switch off the second factor of an account',
      description:
        'For a user who has lost the authenticator app and the recovery codes: check who asks. The user gets a notice. Sessions stay. Nothing happens where it is off.',
      params,
      response: { 200: Ref(EmptyData) },
    },
    handler: async (request) =>
      emptyData(users.removeSecondFactor(requestOperator(request), request.params.user_id)),
  });

  app.get('/failed-mails/', {
    config: operation('admin', '보내지 못한 메일 목록을 조회했습니다.', 'Here are the failed mails.'),
    schema: {
      operationId: 'listFailedMails',
      summary: 'List failed emails',
      description:
        'Emails that are not retried automatically, newest first. They are kept for 90 days, or until their account is deleted.',
      querystring: Type.Object(PageQuery),
      response: { 200: Ref(schemas.FailedMailPage) },
    },
    handler: async (request) => failedMails.list(requestOperator(request), request.query),
  });

  app.post('/failed-mails/:failed_mail_id/retry/', {
    config: operation('admin', '메일을 다시 보냅니다.', 'The mail will be tried again.'),
    schema: {
      operationId: 'retryFailedMail',
      summary: 'Send a failed email again',
      description:
        'Puts the email back into the queue; it leaves this list. It is rendered again from the current data: one that is obsolete, such as an expired code, is not sent.',
      params: Type.Object({ failed_mail_id: BigPathId('`id` of a failed email') }),
      response: { 200: Ref(EmptyData) },
    },
    handler: async (request) =>
      emptyData(failedMails.retry(requestOperator(request), request.params.failed_mail_id)),
  });

  // Every other path and method. Only an admin can tell them from those above.
  for (const url of ['/', '/*']) {
    app.route({
      method: app.supportedMethods,
      url,
      config: { access: 'admin', catchAll: true },
      schema: { hide: true },
      onRequest: async (request) => {
        throw app.unmatchedError(request);
      },
      handler: async () => undefined,
    });
  }
};
