import { tokenNotValid } from '../../http/authentication.ts';
import { ApiError } from '../../http/errors.ts';
import type { RequestContext } from '../../http/request-context.ts';
import type { AuthDependencies } from '../dependencies.ts';
import { authErrors } from '../errors.ts';
import { toUser } from '../presenters.ts';
import type { LiveSession } from '../repository/sessions.ts';
import type { TokenPair, TokenPairWithUser } from '../session-schemas.ts';
import type { TokenClaims } from '../tokens.ts';
import { verifyPasswordAttempt } from './password-attempts.ts';

const errors = { wrong: authErrors.invalidCredentials, tooMany: authErrors.tooManyLogins };

/** Starts, refreshes and ends sessions. */
export function createLogin(dependencies: AuthDependencies) {
  const { config, database, accounts, sessions, tokens, passwords, loginFailures } = dependencies;

  /**
   * @param login the username or the e-mail address
   * @throws {ApiError} `invalid_credentials`, `too_many_attempts`, `account_suspended`
   */
  async function logIn(login: string, password: string, context: RequestContext): Promise<TokenPairWithUser> {
    const { language, ip, userAgent, clientAddress: address } = context;
    const name = login.toLowerCase();
    const account = await accounts.findForLogin(name, address);
    const actor = { userId: account?.id };
    const knownAddress = account?.fromKnownAddress ? address : undefined;
    const counters = loginFailures.keysOf([name], knownAddress);
    const passwordHash = account?.passwordHash;
    const request = { clientAddress: address, isLogin: true };
    const attempt = { name, counters, passwordHash, password, request, actor, errors };
    await verifyPasswordAttempt(dependencies, attempt, context);
    if (account === undefined) throw new ApiError(errors.wrong);
    if (account.isSuspended) {
      context.audit('login_suspended', actor);
      throw new ApiError(authErrors.accountSuspended);
    }

    const { id: userId, username, email, passwordHash: hash } = account;
    const newHash = passwords.needsRehash(hash) ? await passwords.hash(password, request) : undefined;
    const session = await database.runStatements(async (tx) => {
      const changes = { address, language, ...(newHash ? { passwordHash: newHash } : {}) };
      if (!(await accounts.recordLogin(tx, userId, hash, changes))) return undefined;
      await loginFailures.clear(tx, loginFailures.keysOf([username, email], knownAddress));
      return sessions.create(tx, { userId, userAgent, ip });
    });
    // The account was suspended meanwhile, or its hash was replaced, for example by a concurrent login that rehashed it.
    if (session === undefined) return logIn(login, password, context);
    context.audit('login', session);
    return { ...toTokenPair(session), user: toUser(account) };
  }

  /** @throws {ApiError} `token_not_valid` */
  async function refresh(refreshToken: string, context: RequestContext): Promise<TokenPair> {
    const claims = verifyRefreshToken(refreshToken, context);
    const session = await sessions.refresh(claims);
    if (session) return toTokenPair(session);
    const reused = await sessions.endReused(claims);
    if (reused) context.audit('refresh_reused', claims);
    throw tokenNotValid('refresh', reused ? 'reused' : 'revoked', context.language);
  }

  /** Ends the session of a refresh token. @throws {ApiError} `token_not_valid` */
  async function logOutByRefreshToken(refreshToken: string, context: RequestContext): Promise<void> {
    const claims = verifyRefreshToken(refreshToken, context);
    if (!(await sessions.end(claims))) throw tokenNotValid('refresh', 'revoked', context.language);
    context.audit('logout', claims);
  }

  function verifyRefreshToken(refreshToken: string, { language }: RequestContext): TokenClaims {
    const claims = tokens.verify('refresh', refreshToken);
    if ('problem' in claims) throw tokenNotValid('refresh', claims.problem, language);
    return claims;
  }

  function toTokenPair(session: LiveSession): TokenPair {
    const wholeSeconds = (seconds: number) => Math.max(1, Math.floor(seconds));
    const refreshLifetime = wholeSeconds(session.refreshExpiresIn);
    const accessLifetime = wholeSeconds(Math.min(config.tokens.accessTtl, session.refreshExpiresIn));
    return {
      access: tokens.sign('access', session, accessLifetime),
      refresh: tokens.sign('refresh', session, refreshLifetime),
      token_type: 'Bearer',
      expires_in: accessLifetime,
      refresh_expires_in: refreshLifetime,
    };
  }

  return { logIn, refresh, logOutByRefreshToken };
}
