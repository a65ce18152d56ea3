import type { Static } from '@sinclair/typebox';
import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import type { User } from '../infrastructure/database/generated/client.ts';
import { ApiError, httpErrors, type TokenNotValidReason } from './errors.ts';

export type TokenProblem = Static<typeof TokenNotValidReason>;
export type TokenType = 'access' | 'refresh';

/** The user and the session that a genuine access token names. */
export interface AccessClaims {
  userId: number;
  sessionId: string;
}

/** The account and the session behind a valid access token. */
export type CurrentUser = Pick<User, 'id' | 'username' | 'name' | 'email' | 'role' | 'isVerified'> & {
  sessionId: string;
};

/** How access tokens are checked; implemented by the authentication domain. */
export interface Authenticator {
  /** Checks signature, times and type, without the database. */
  verifyAccessToken(token: string): AccessClaims | { problem: TokenProblem };
  /** @returns undefined when the session has ended */
  findUser(claims: AccessClaims): Promise<CurrentUser | undefined>;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** What the `Authorization` header contains; null without a Bearer token. */
    credentials: AccessClaims | { problem: TokenProblem } | null;
    /** Set where `access` of the route asks for a user; read it with {@link currentUser}. */
    currentUser: CurrentUser | null;
    /** The result of {@link findUser}. */
    foundUser: Promise<CurrentUser | undefined> | undefined;
  }
  interface FastifyInstance {
    authenticator: Authenticator;
  }
}

const invalidToken = { ko: '유효하지 않거나 만료된 토큰입니다.', en: 'Token is invalid or expired.' };

/** 401 `token_not_valid`, whose `messages` has one entry: the token that was rejected. */
export function tokenNotValid(type: TokenType, reason: TokenProblem): ApiError {
  const token_class = type === 'access' ? 'AccessToken' : 'RefreshToken';
  return new ApiError(httpErrors.tokenNotValid, {
    data: { reason },
    localizedData: (language) => ({
      messages: [{ token_class, token_type: type, message: invalidToken[language] }],
    }),
  });
}

/** The id of the user whose genuine access token a request carries, or undefined. Only {@link findUser} asks the database. */
export function claimedUserId({ credentials }: FastifyRequest): number | undefined {
  return credentials && 'userId' in credentials ? credentials.userId : undefined;
}

/** Reads the Bearer token (RFC 6750) of every request, and guards routes by their `access`. Register it before the limits. */
export const credentialsPlugin = fastifyPlugin(
  async (app: FastifyInstance, { authenticator }: { authenticator: Authenticator }) => {
    app.decorate('authenticator', authenticator);
    app.decorateRequest('credentials', null);
    app.decorateRequest('currentUser', null);
    app.decorateRequest('foundUser', undefined);
    app.addHook('onRoute', guard);
    app.addHook('onRequest', (request, _reply, done) => {
      const token = /^Bearer +(\S.*)$/i.exec(request.headers.authorization ?? '')?.[1];
      if (token !== undefined) request.credentials = authenticator.verifyAccessToken(token.trim());
      done();
    });
  },
);

/** Finds the user of the access token, with one query for all calls. From then on, the token of an ended session is `revoked`. */
export async function findUser(request: FastifyRequest): Promise<CurrentUser | undefined> {
  const { credentials } = request;
  if (credentials === null || 'problem' in credentials) return undefined;
  request.foundUser ??= request.server.authenticator.findUser(credentials);
  const user = await request.foundUser;
  if (user === undefined) request.credentials = { problem: 'revoked' };
  return user;
}

/** Finds the user of a request. @throws {ApiError} `not_authenticated` without a Bearer token, `token_not_valid` for a rejected one */
export async function authenticate(request: FastifyRequest): Promise<CurrentUser> {
  const user = await findUser(request);
  if (user !== undefined) return user;
  const { credentials } = request;
  if (credentials === null || !('problem' in credentials)) throw new ApiError(httpErrors.notAuthenticated);
  throw tokenNotValid('access', credentials.problem);
}

/** The security of an operation for which a Bearer token is optional. */
export const optionalBearer = [{ bearer: [] }, {}];

const securities = { optional: optionalBearer, user: [{ bearer: [] }], admin: [{ bearer: [] }] };

/** Sets {@link FastifyRequest.currentUser}, or rejects the request, as `access` of the route says. */
async function checkAccess(request: FastifyRequest): Promise<void> {
  const { access } = request.routeOptions.config;
  if (access === 'optional' && !request.credentials) return;
  const user = await authenticate(request);
  if (access === 'admin' && user.role !== 'admin') throw new ApiError(httpErrors.notFound);
  request.currentUser = user;
}

/** @throws Error for an operation that does not say who may call it */
function guard(route: RouteOptions): void {
  const { access, errors = [] } = route.config ?? {};
  const { schema } = route;
  if (access === undefined) {
    if (schema && 'operationId' in schema) throw new Error(`${route.url} does not say who may call it`);
    return;
  }
  if (access === 'anyone') return;
  route.schema = { ...schema, security: securities[access] };
  if (access === 'admin') route.config = { ...route.config, errors: [...errors, httpErrors.notFound] };
  route.onRequest = [checkAccess, ...[route.onRequest ?? []].flat()];
}

/** The user of a request to a route with `access: 'user'` or `'admin'`. */
export function currentUser(request: FastifyRequest): CurrentUser {
  if (request.currentUser === null) throw new Error('the route does not require a user');
  return request.currentUser;
}
