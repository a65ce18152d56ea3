import type { FastifyRequest } from 'fastify';
import { audit } from '../../http/audit.ts';
import { tokenNotValid } from '../../http/authentication.ts';
import { ApiError, retryLater } from '../../http/errors.ts';
import { clientAddress, maxAddressLength } from '../../http/rate-limits.ts';
import type { AuthDependencies } from '../dependencies.ts';
import { authErrors } from '../errors.ts';
import type { LiveSession } from '../repository/sessions.ts';
import type { LoginResult, TokenPair } from '../schemas.ts';

/** Begins, continues and ends sessions. */
export function createLogin(dependencies: AuthDependencies) {
  const { config, database, accounts, sessions, tokens, passwords, loginFailures } = dependencies;

  /**
   * @param login the username or the e-mail address
   * @throws {ApiError} `invalid_credentials`, `too_many_attempts`, `account_suspended`
   */
  async function logIn(login: string, password: string, request: FastifyRequest): Promise<LoginResult> {
    const address = clientAddress(request);
    const folded = login.toLowerCase();
    const account = await accounts.findForLogin(folded, address);
    const userId = account?.user.id;
    const key =
      account === undefined
        ? loginFailures.keyOf({ login: folded })
        : loginFailures.keyOf({ userId: account.user.id }, account.fromKnownAddress ? address : undefined);

    await refuseWhileDelayed(key, userId, request);
    const correct = await passwords.verify(account?.passwordHash, password);
    if (account === undefined || !correct) throw await countFailure(key, userId, request);
    // Others may have failed meanwhile: a guess that is judged after the delay began is not told to be right.
    await refuseWhileDelayed(key, userId, request);
    if (account.suspended) {
      audit(request, 'login_suspended', { userId });
      throw new ApiError(authErrors.accountSuspended);
    }

    const { user, passwordHash } = account;
    const newHash = passwords.needsRehash(passwordHash) ? await passwords.hash(password) : undefined;
    const session = await database.transaction(async (tx) => {
      const changes = { address, language: request.language, ...(newHash ? { passwordHash: newHash } : {}) };
      if (!(await accounts.recordLogin(tx, user.id, passwordHash, changes))) return undefined;
      await loginFailures.clear(tx, [key]);
      const userAgent = cutUserAgent(request.headers['user-agent']);
      const ip = request.ip.slice(0, maxAddressLength);
      return sessions.create(tx, { userId: user.id, userAgent, ip });
    });
    // The hash was replaced meanwhile: by another password, or by a parallel login that rehashed this one.
    if (session === undefined) return logIn(login, password, request);
    audit(request, 'login', session);
    return { ...toTokenPair(session), user };
  }

  async function refuseWhileDelayed(
    key: string,
    userId: number | undefined,
    request: FastifyRequest,
  ): Promise<void> {
    const delay = await loginFailures.delay(key);
    if (delay === 0) return;
    audit(request, 'login_delayed', { userId });
    throw retryLater(authErrors.tooManyLogins, delay);
  }

  async function countFailure(
    key: string,
    userId: number | undefined,
    request: FastifyRequest,
  ): Promise<ApiError> {
    const delay = await loginFailures.count(key);
    audit(request, delay > 0 ? 'login_delayed' : 'login_failed', { userId });
    return delay > 0
      ? retryLater(authErrors.tooManyLogins, delay)
      : new ApiError(authErrors.invalidCredentials);
  }

  /** @throws {ApiError} `token_not_valid` */
  async function refresh(refreshToken: string, request: FastifyRequest): Promise<TokenPair> {
    const claims = tokens.verify('refresh', refreshToken);
    if ('problem' in claims) throw tokenNotValid('refresh', claims.problem, request.language);
    const session = await sessions.refresh(claims);
    if (session) return toTokenPair(session);
    const reused = await sessions.endReused(claims);
    if (reused) audit(request, 'refresh_reused', claims);
    throw tokenNotValid('refresh', reused ? 'reused' : 'revoked', request.language);
  }

  /** Ends the session of a refresh token. @throws {ApiError} `token_not_valid` */
  async function logOutWith(refreshToken: string, request: FastifyRequest): Promise<void> {
    const claims = tokens.verify('refresh', refreshToken);
    if ('problem' in claims) throw tokenNotValid('refresh', claims.problem, request.language);
    if (!(await sessions.end(claims))) throw tokenNotValid('refresh', 'revoked', request.language);
    audit(request, 'logout', claims);
  }

  function toTokenPair(session: LiveSession): TokenPair {
    const refreshLifetime = Math.max(1, Math.floor(session.refreshExpiresIn));
    const accessLifetime = Math.max(
      1,
      Math.floor(Math.min(config.tokens.accessTtl, session.refreshExpiresIn)),
    );
    return {
      access: tokens.sign('access', session, accessLifetime),
      refresh: tokens.sign('refresh', session, refreshLifetime),
      token_type: 'Bearer',
      expires_in: accessLifetime,
      refresh_expires_in: refreshLifetime,
    };
  }

  return { logIn, refresh, logOutWith };
}

/** What a browser says it is, without what PostgreSQL cannot store or nobody should see in a list. */
function cutUserAgent(header: string | undefined): string {
  return (header ?? '').replace(/\p{Cc}/gu, '').slice(0, 400);
}
