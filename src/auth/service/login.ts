import type { FastifyRequest } from 'fastify';
import { audit } from '../../http/audit.ts';
import { tokenNotValid } from '../../http/authentication.ts';
import { ApiError } from '../../http/errors.ts';
import { clientAddress, maxAddressLength } from '../../http/plugins/rate-limits.ts';
import type { AuthDependencies } from '../dependencies.ts';
import { authErrors } from '../errors.ts';
import type { LiveSession } from '../repository/sessions.ts';
import type { LoginResult, TokenPair } from '../schemas.ts';
import { createPasswordCheck } from './password-check.ts';

/** Begins, continues and ends sessions. */
export function createLogin(dependencies: AuthDependencies) {
  const { config, database, accounts, sessions, tokens, passwords, loginFailures } = dependencies;
  const checkPassword = createPasswordCheck(dependencies);

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

    const wrong = authErrors.invalidCredentials;
    await checkPassword(
      { key, passwordHash: account?.passwordHash, password, who: { userId }, wrong },
      request,
    );
    // Without an account no password is right.
    if (account === undefined) throw new ApiError(wrong);
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
    // The account changed meanwhile: it was suspended, or its hash replaced, be it by a parallel login that rehashed the password.
    if (session === undefined) return logIn(login, password, request);
    audit(request, 'login', session);
    return { ...toTokenPair(session), user };
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
