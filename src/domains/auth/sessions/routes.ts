import { Type } from '@sinclair/typebox';
import { authenticate, currentUser, optionalBearer } from '../../../http/authentication.ts';
import { ApiError, httpErrors, invalidFields } from '../../../http/errors.ts';
import { problems } from '../../../http/field-errors.ts';
import { PageQuery, paginate } from '../../../http/pagination.ts';
import { toApiError } from '../../../http/plugins/envelope.ts';
import { requestContext } from '../../../http/request-context.ts';
import { operation, type Routes } from '../../../http/route-config.ts';
import { EmptyData, isUuid, PathUuid, Ref } from '../../../http/schemas.ts';
import type { AuthContext } from '../context.ts';
import { authErrors } from '../errors.ts';
import * as schemas from '../schemas.ts';
import type { RefreshCookie } from './refresh-cookie.ts';

type SessionRoutesOptions = AuthContext & { refreshCookie: RefreshCookie };

export const sessionRoutes: Routes<SessionRoutesOptions> = async (app, auth) => {
  const { database, sessions, login, refreshCookie } = auth;

  app.post('/login/', {
    config: {
      ...operation('anyone', '로그인되었습니다.', 'You are logged in.'),
      limit: { group: 'login', max: 30 },
      errors: [
        authErrors.invalidCredentials,
        authErrors.secondFactorRequired,
        authErrors.accountSuspended,
        authErrors.tooManyLogins,
      ],
    },
    schema: {
      operationId: 'logIn',
      summary: 'Log in',
      description:
        'Begins a session. An unknown user and a wrong password are answered alike. After ten failures with a username or an email address in 15 minutes, further attempts with it are answered with 429 for a while. With a second factor, the right password is answered with `second_factor_required`: complete the login at `finishLogin`.',
      body: Ref(schemas.Credentials),
      response: { 200: Ref(schemas.TokenPairWithUser) },
    },
    handler: async (request) => login.logIn(request.body, requestContext(request)),
  });

  app.post('/token/refresh/', {
    config: {
      ...operation('anyone', '토큰을 갱신했습니다.', 'Here are new tokens.'),
      limit: { group: 'refresh', max: 60 },
      errors: [httpErrors.notAuthenticated, httpErrors.tokenNotValid],
    },
    schema: {
      operationId: 'refreshToken',
      summary: 'Refresh token',
      description:
        'Gives a new access token and a new refresh token. The refresh token that was sent works for a few more seconds, so that parallel refreshes are safe; sent later again, it ends the session (`reason: "reused"`). With `X-Refresh-Token: cookie` the body may be empty: the token is that of the cookie, which counts for pages of the frontend and of `CORS_ORIGINS` only, and is cleared when it is rejected.',
      body: Ref(schemas.RefreshBody),
      response: { 200: Ref(schemas.TokenPair) },
    },
    handler: async (request) => {
      const { refresh = refreshCookie.read(request) } = request.body;
      if (refresh !== undefined) return login.refresh(refresh, requestContext(request));
      if (refreshCookie.isMeant(request)) throw new ApiError(httpErrors.notAuthenticated);
      throw invalidFields([{ field: 'refresh', ...problems.required }]);
    },
  });

  app.post('/logout/', {
    config: {
      // The handler looks at the access token itself.
      ...operation('anyone', '로그아웃되었습니다.', 'You are logged out.'),
      errors: [httpErrors.notAuthenticated],
    },
    // A body without a usable refresh token does not excuse an invalid access token, whatever is wrong with the body.
    errorHandler: async (error, request) => {
      if (request.credentials && toApiError(error).definition.status < 500) await authenticate(request);
      throw error;
    },
    schema: {
      operationId: 'logOut',
      summary: 'Log out',
      description:
        'Ends the session of the access token. Where that is not sent or no longer valid, ends the session of the refresh token in the body. With `X-Refresh-Token: cookie` the session of the cookie ends as well, and the cookie is cleared.',
      security: optionalBearer,
      body: Ref(schemas.LogoutBody),
      response: { 200: Ref(EmptyData) },
    },
    handler: async (request) => {
      const cookie = refreshCookie.read(request);
      const { refresh = cookie } = request.body;
      const context = requestContext(request);
      // The session may have ended while the body arrived.
      request.foundUser = undefined;
      // Where the access token is missing or no longer valid, the refresh token says which session ends.
      const user = await authenticate(request).catch((error: unknown) => {
        if (refresh === undefined || !(error instanceof ApiError)) throw error;
        return login.logOutByRefreshToken(refresh, context);
      });
      if (user) {
        await sessions.end(user.id, user.sessionId);
        context.logSecurityEvent('logout', user);
        // Of another login in this browser, which would live on without its token.
        if (cookie !== undefined) await login.logOutByRefreshToken(cookie, context).catch(ignoreRejection);
      }
      return {};
    },
  });

  app.get('/sessions/', {
    config: operation('user', '로그인된 기기를 조회했습니다.', 'Here are your sessions.'),
    schema: {
      operationId: 'listSessions',
      summary: 'Where the user is logged in',
      description: 'Live sessions, newest first.',
      querystring: Type.Object(PageQuery),
      response: { 200: Ref(schemas.SessionPage) },
    },
    handler: async (request) => {
      const user = currentUser(request);
      return paginate(request.query, {
        isId: isUuid,
        find: (page) => sessions.list(database, user.id, page),
        present: (row) => ({ ...schemas.toSession(row), is_current: row.id === user.sessionId }),
      });
    },
  });

  app.delete('/sessions/:session_id/', {
    config: {
      ...operation('user', '해당 기기에서 로그아웃되었습니다.', 'The session has ended.'),
      errors: [authErrors.sessionNotFound],
    },
    schema: {
      operationId: 'endSession',
      summary: 'End one session',
      description: 'Its tokens are rejected at once. The current session may be ended, too.',
      params: Type.Object({ session_id: PathUuid('`id` of a session') }),
      response: { 200: Ref(EmptyData) },
    },
    handler: async (request) => {
      const { id } = currentUser(request);
      const sessionId = request.params.session_id;
      if (!(await sessions.end(id, sessionId))) throw new ApiError(authErrors.sessionNotFound);
      requestContext(request).logSecurityEvent('session_ended', { id, sessionId });
      return {};
    },
  });

  app.delete('/sessions/', {
    config: operation('user', '다른 모든 기기에서 로그아웃되었습니다.', 'All other sessions have ended.'),
    schema: {
      operationId: 'endOtherSessions',
      summary: 'End all other sessions',
      description: 'Everything but the current session ends.',
      response: { 200: Ref(EmptyData) },
    },
    handler: async (request) => {
      const { id, sessionId } = currentUser(request);
      await sessions.endAll(database, id, sessionId);
      requestContext(request).logSecurityEvent('session_ended', { id });
      return {};
    },
  });
};

/** Most often the session of the access token is that of the cookie, and has just ended. */
function ignoreRejection(error: unknown): void {
  if (!(error instanceof ApiError)) throw error;
}
