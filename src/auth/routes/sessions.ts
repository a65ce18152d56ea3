import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { currentUser, requireUser } from '../../http/authentication.ts';
import { ApiError, httpErrors } from '../../http/errors.ts';
import { PageQuery, paginate } from '../../http/pagination.ts';
import { isUuid, PathUuid } from '../../http/path-ids.ts';
import { requestContext } from '../../http/request-context.ts';
import { EmptyData, Ref } from '../../http/schemas.ts';
import type { AuthDependencies } from '../dependencies.ts';
import { authErrors } from '../errors.ts';
import { toSession } from '../presenters.ts';
import { createLogin } from '../service/login.ts';
import {
  Credentials,
  SessionPage,
  SessionToRefresh,
  TokenPair,
  TokenPairWithUser,
} from '../session-schemas.ts';

/** Login, refresh, and the list of sessions. */
export const sessionRoutes: FastifyPluginAsyncTypebox<AuthDependencies> = async (app, dependencies) => {
  const { logIn, refresh } = createLogin(dependencies);

  app.post(
    '/login/',
    {
      config: {
        limit: 'login',
        message: { ko: '로그인되었습니다.', en: 'You are logged in.' },
        errors: [authErrors.invalidCredentials, authErrors.accountSuspended, authErrors.tooManyLogins],
      },
      schema: {
        operationId: 'logIn',
        summary: 'Log in',
        description:
          'Begins a session. An unknown user and a wrong password are answered alike. After ten failures with a username or an e-mail address in 15 minutes, further attempts with it are answered with 429 for a while.',
        body: Ref(Credentials),
        response: { 200: Ref(TokenPairWithUser) },
      },
    },
    async (request) => logIn(request.body.username, request.body.password, requestContext(request)),
  );

  app.post(
    '/token/refresh/',
    {
      config: {
        limit: 'refresh',
        message: { ko: '토큰을 갱신했습니다.', en: 'Here are new tokens.' },
        errors: [httpErrors.tokenNotValid],
      },
      schema: {
        operationId: 'refreshToken',
        summary: 'Refresh token',
        description:
          'Gives a new access token and a new refresh token. The refresh token that was sent works for a few more seconds, so that parallel refreshes are safe; sent later again, it ends the session (`reason: "reused"`).',
        body: Ref(SessionToRefresh),
        response: { 200: Ref(TokenPair) },
      },
    },
    async (request) => refresh(request.body.refresh, requestContext(request)),
  );

  await app.register(ownSessionRoutes, dependencies);
};

const ownSessionRoutes: FastifyPluginAsyncTypebox<AuthDependencies> = async (app, dependencies) => {
  await app.register(requireUser);
  const { database, sessions } = dependencies;

  app.get(
    '/sessions/',
    {
      config: { message: { ko: '로그인된 기기를 조회했습니다.', en: 'Here are your sessions.' } },
      schema: {
        operationId: 'listSessions',
        summary: 'Where the user is logged in',
        description: 'Live sessions, newest first.',
        querystring: Type.Object(PageQuery),
        response: { 200: Ref(SessionPage) },
      },
    },
    async (request) => {
      const user = currentUser(request);
      return paginate(request.query, {
        isId: isUuid,
        find: (page) => sessions.list(database, user.id, page),
        present: (row) => toSession(row, user.sessionId),
      });
    },
  );

  app.delete(
    '/sessions/:session_id/',
    {
      config: {
        message: { ko: '해당 기기에서 로그아웃되었습니다.', en: 'The session has ended.' },
        errors: [authErrors.sessionNotFound],
      },
      schema: {
        operationId: 'endSession',
        summary: 'End one session',
        description: 'Its tokens are refused at once. The current session may be ended, too.',
        params: Type.Object({ session_id: PathUuid('`id` of a session') }),
        response: { 200: Ref(EmptyData) },
      },
    },
    async (request) => {
      const { id: userId } = currentUser(request);
      const sessionId = request.params.session_id;
      if (!(await sessions.end({ userId, sessionId }))) throw new ApiError(authErrors.sessionNotFound);
      requestContext(request).audit('session_ended', { userId, sessionId });
      return {};
    },
  );

  app.delete(
    '/sessions/',
    {
      config: {
        message: { ko: '다른 모든 기기에서 로그아웃되었습니다.', en: 'All other sessions have ended.' },
      },
      schema: {
        operationId: 'endOtherSessions',
        summary: 'End all other sessions',
        description: 'Everything but the current session ends.',
        response: { 200: Ref(EmptyData) },
      },
    },
    async (request) => {
      const { id: userId, sessionId } = currentUser(request);
      await sessions.endOthers(database, { userId, sessionId });
      requestContext(request).audit('session_ended', { userId });
      return {};
    },
  );
};
