import { type CurrentUser, tokenNotValid } from '../../../http/authentication.ts';
import { ApiError, retryLater } from '../../../http/errors.ts';
import type { EventSubject, RequestContext } from '../../../http/request-context.ts';
import type { Config } from '../../../infrastructure/config/config.ts';
import type { Database } from '../../../infrastructure/database/client.ts';
import { authErrors } from '../errors.ts';
import type { HashRequest, Passwords } from '../passwords.ts';
import { toUser } from '../presenters.ts';
import type { AuthRepository } from '../repository/index.ts';
import type { LiveSession } from '../repository/sessions.ts';
import type { TokenPair, TokenPairWithUser } from '../schemas.ts';
import type { TokenClaims, Tokens } from '../tokens.ts';

/** A password that a client sent for an account. */
interface PasswordAttempt {
  /** Lower-cased; chooses the parameters with which a password for an unknown account is hashed. */
  name: string;
  /** The keys of the counters of failures. */
  counters: string[];
  /** Undefined when the account does not exist; the check takes the same time. */
  passwordHash: string | undefined;
  password: string;
  /** Whom the log names. */
  actor: EventSubject;
}

const loginErrors = { wrong: authErrors.invalidCredentials, tooMany: authErrors.tooManyLogins };
const ownPasswordErrors = { wrong: authErrors.wrongPassword, tooMany: authErrors.tooManyPasswords };

export type Login = ReturnType<typeof createLogin>;

/** Verifies passwords; starts, refreshes and ends sessions. */
export function createLogin(
  { accessTtl }: Config['tokens'],
  database: Database,
  { accounts, sessions, loginFailures }: AuthRepository,
  tokens: Tokens,
  passwords: Passwords,
) {
  /**
   * @param login the username or the email address
   * @throws {ApiError} `invalid_credentials`, `too_many_attempts`, `account_suspended`
   */
  async function logIn(login: string, password: string, context: RequestContext): Promise<TokenPairWithUser> {
    const { language, ip, userAgent, clientAddress: address } = context;
    const name = login.toLowerCase();
    const account = await accounts.findForLogin(name, address);
    const actor = { userId: account?.id };
    const knownAddress = account?.fromKnownAddress ? address : undefined;
    const counters = loginFailures.keysOf([name], knownAddress);
    const attempt = { name, counters, passwordHash: account?.passwordHash, password, actor };
    const request = { clientAddress: address, isLogin: true };
    await verifyAttempt(attempt, request, context, loginErrors);
    if (account === undefined) throw new ApiError(loginErrors.wrong);
    if (account.isSuspended) {
      context.logSecurityEvent('login_suspended', actor);
      throw new ApiError(authErrors.accountSuspended);
    }

    const { id: userId, username, email, passwordHash: hash } = account;
    const newHash = passwords.needsRehash(hash) ? await passwords.hash(password, request) : undefined;
    const session = await database.transaction(async (tx) => {
      const changes = { address, language, ...(newHash ? { passwordHash: newHash } : {}) };
      if (!(await accounts.recordLogin(tx, userId, hash, changes))) return undefined;
      await loginFailures.clear(tx, loginFailures.keysOf([username, email], knownAddress));
      return sessions.create(tx, { userId, userAgent, ip });
    });
    // The account was suspended meanwhile, or its hash was replaced, for example by a concurrent login that rehashed it.
    if (session === undefined) return logIn(login, password, context);
    context.logSecurityEvent('login', session);
    return { ...toTokenPair(session), user: toUser(account) };
  }

  /**
   * Verifies the password of a logged-in user. Failures count like failed logins, so that a stolen access token cannot be used
   * to guess the password.
   *
   * @returns the hash that the password was verified against
   * @throws {ApiError} `invalid_credentials`, `too_many_attempts`, `token_not_valid`; `forbidden` after an undone change of email
   */
  async function verifyOwnPassword(
    { id: userId, sessionId, username, email }: CurrentUser,
    password: string,
    context: RequestContext,
  ): Promise<string> {
    const { clientAddress: address, language } = context;
    const account = await accounts.findForPasswordCheck(userId, address);
    if (account === null) throw tokenNotValid('access', 'revoked', language);
    const { passwordHash, fromKnownAddress, needsReset } = account;
    const counters = loginFailures.keysOf([username, email], fromKnownAddress ? address : undefined);
    const actor = { userId, sessionId };
    const attempt = { name: username, counters, passwordHash, password, actor };
    await verifyAttempt(attempt, { clientAddress: address, userId }, context, ownPasswordErrors);
    // Somebody else knows the password, and would make the reset link void or delete the account.
    if (needsReset) throw new ApiError(authErrors.resetRequired);
    return passwordHash;
  }

  /**
   * Verifies a password. Too many failures delay further attempts, whether their password is right or not.
   *
   * @throws {ApiError} one of `errors`
   */
  async function verifyAttempt(
    { name, counters, passwordHash, password, actor }: PasswordAttempt,
    request: HashRequest,
    context: RequestContext,
    errors: typeof loginErrors,
  ): Promise<void> {
    const rejectFor = (seconds: number) => {
      if (seconds <= 0) return;
      context.logSecurityEvent('login_delayed', actor);
      throw retryLater(errors.tooMany, seconds);
    };
    rejectFor(await loginFailures.delay(counters));
    if (!(await passwords.verify(name, passwordHash, password, request))) {
      rejectFor(await loginFailures.count(counters));
      context.logSecurityEvent('login_failed', actor);
      throw new ApiError(errors.wrong);
    }
    // The delay may have begun while this hash was computed. A right password must not be confirmed during a delay.
    rejectFor(await loginFailures.delay(counters));
  }

  /** @throws {ApiError} `token_not_valid` */
  async function refresh(refreshToken: string, context: RequestContext): Promise<TokenPair> {
    const claims = verifyRefreshToken(refreshToken, context);
    const session = await sessions.refresh(claims);
    if (session) return toTokenPair(session);
    const reused = await sessions.endReused(claims);
    if (reused) context.logSecurityEvent('refresh_reused', claims);
    throw tokenNotValid('refresh', reused ? 'reused' : 'revoked', context.language);
  }

  /** Ends the session of a refresh token. @throws {ApiError} `token_not_valid` */
  async function logOutByRefreshToken(refreshToken: string, context: RequestContext): Promise<void> {
    const claims = verifyRefreshToken(refreshToken, context);
    if (!(await sessions.end(claims))) throw tokenNotValid('refresh', 'revoked', context.language);
    context.logSecurityEvent('logout', claims);
  }

  function verifyRefreshToken(refreshToken: string, { language }: RequestContext): TokenClaims {
    const claims = tokens.verify('refresh', refreshToken);
    if ('problem' in claims) throw tokenNotValid('refresh', claims.problem, language);
    return claims;
  }

  function toTokenPair(session: LiveSession): TokenPair {
    const wholeSeconds = (seconds: number) => Math.max(1, Math.floor(seconds));
    const refreshLifetime = wholeSeconds(session.refreshExpiresIn);
    const accessLifetime = wholeSeconds(Math.min(accessTtl, session.refreshExpiresIn));
    return {
      access: tokens.sign('access', session, accessLifetime),
      refresh: tokens.sign('refresh', session, refreshLifetime),
      token_type: 'Bearer',
      expires_in: accessLifetime,
      refresh_expires_in: refreshLifetime,
    };
  }

  return { logIn, verifyOwnPassword, refresh, logOutByRefreshToken };
}
