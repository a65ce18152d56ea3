import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { audit } from '../../http/audit.ts';
import { authenticate, currentUser, requireUser } from '../../http/authentication.ts';
import { ApiError, httpErrors } from '../../http/errors.ts';
import { Page, PageQuery, readCursor, toPage } from '../../http/pagination.ts';
import { isUuid } from '../../http/path-ids.ts';
import { Nothing, Reference } from '../../http/schemas.ts';
import type { AuthDependencies } from '../dependencies.ts';
import { authErrors } from '../errors.ts';
import { LoginRequest, LoginResult, LogoutRequest, RefreshRequest, Session, TokenPair } from '../schemas.ts';
import { createLogin } from '../service/login.ts';

interface Options {
  dependencies: AuthDependencies;
}

const loggedOut = { ko: '로그아웃되었습니다.', en: 'You are logged out.' };

/** Login, refresh, logout, and the list of logins. */
export const sessionRoutes: FastifyPluginAsyncTypebox<Options> = async (app, { dependencies }) => {
  const { sessions } = dependencies;
  const { logIn, refresh, logOutWith } = createLogin(dependencies);

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
          'Begins a session. An unknown user and a wrong password are answered alike. After ten failures in 15 minutes an account is answered with 429 for a while.',
        tags: ['auth'],
        body: Reference(LoginRequest),
        response: { 200: Reference(LoginResult) },
      },
    },
    async (request) => logIn(request.body.username, request.body.password, request),
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
        tags: ['auth'],
        body: Reference(RefreshRequest),
        response: { 200: Reference(TokenPair) },
      },
    },
    async (request) => refresh(request.body.refresh, request),
  );

  app.post(
    '/logout/',
    {
      config: { message: loggedOut, errors: [httpErrors.notAuthenticated, httpErrors.tokenNotValid] },
      // The Bearer token decides where there is one, before the body is looked at.
      onRequest: async (request) => {
        if (request.credentials) request.currentUser = await authenticate(request);
      },
      schema: {
        operationId: 'logOut',
        summary: 'Log out',
        description:
          'Ends the session of the access token, or of the refresh token in the body where no access token is sent.',
        tags: ['auth'],
        security: [{ bearer: [] }, {}],
        body: Reference(LogoutRequest),
        response: { 200: Reference(Nothing) },
      },
    },
    async (request) => {
      if (request.currentUser) {
        const { id: userId, sessionId } = request.currentUser;
        await sessions.end({ userId, sessionId });
        audit(request, 'logout', { userId, sessionId });
      } else if (request.body.refresh !== undefined) {
        await logOutWith(request.body.refresh, request);
      } else {
        throw new ApiError(httpErrors.notAuthenticated);
      }
      return {};
    },
  );

  await app.register(ownSessionRoutes, { dependencies });
};

const ownSessionRoutes: FastifyPluginAsyncTypebox<Options> = async (app, { dependencies }) => {
  await app.register(requireUser);
  const { database, sessions } = dependencies;

  app.get(
    '/sessions/',
    {
      config: {
        message: { ko: '로그인 기록을 조회했습니다.', en: 'Here are your sessions.' },
        errors: [httpErrors.invalidCursor],
      },
      schema: {
        operationId: 'listSessions',
        summary: 'Where the user is logged in',
        description: 'Live sessions, newest first.',
        tags: ['auth'],
        querystring: Type.Object(PageQuery),
        response: { 200: Page(Reference(Session)) },
      },
    },
    async (request) => {
      const user = currentUser(request);
      const { limit, cursor } = request.query;
      const rows = await sessions.list(user.id, limit + 1, readCursor(cursor, isUuid));
      return toPage(
        rows,
        limit,
        (row) => ({ time: row.created_at.getTime(), id: row.id }),
        (row) => ({
          id: row.id,
          user_agent: row.user_agent,
          ip: row.ip,
          created_at: row.created_at.toISOString(),
          last_used_at: row.last_used_at.toISOString(),
          is_current: row.id === user.sessionId,
        }),
      );
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
        tags: ['auth'],
        params: Type.Object({ session_id: Type.String({ description: '`id` of a session' }) }),
        response: { 200: Reference(Nothing) },
      },
    },
    async (request) => {
      const { id: userId } = currentUser(request);
      const sessionId = request.params.session_id.toLowerCase();
      if (!isUuid(sessionId) || !(await sessions.end({ userId, sessionId }))) {
        throw new ApiError(authErrors.sessionNotFound);
      }
      audit(request, 'session_ended', { userId, sessionId });
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
        tags: ['auth'],
        response: { 200: Reference(Nothing) },
      },
    },
    async (request) => {
      const { id: userId, sessionId } = currentUser(request);
      await sessions.endAll(database.client, userId, sessionId);
      audit(request, 'session_ended', { userId });
      return {};
    },
  );
};
