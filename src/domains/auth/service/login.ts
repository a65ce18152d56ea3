import { type CurrentUser, tokenNotValid } from '../../../http/authentication.ts';
import { ApiError, retryLater } from '../../../http/errors.ts';
import type { EventSubject, RequestContext } from '../../../http/request-context.ts';
import type { Config } from '../../../infrastructure/config/config.ts';
import type { Database } from '../../../infrastructure/database/client.ts';
import { authErrors } from '../errors.ts';
import type { Passwords } from '../passwords.ts';
import { toUser } from '../presenters.ts';
import type { PasswordAccount } from '../repository/accounts.ts';
import type { AuthRepository } from '../repository/index.ts';
import type { LiveSession } from '../repository/sessions.ts';
import type { TokenPair, TokenPairWithUser } from '../schemas.ts';
import type { TokenClaims, Tokens } from '../tokens.ts';

/** A password that a client sent for an account. */
interface PasswordAttempt {
  /** Lower-cased, with a counter of failures each. The first chooses the cost of a password for an unknown account. */
  names: [string, ...string[]];
  /** Undefined when it does not exist; the check takes the same time. */
  account: PasswordAccount | undefined;
  password: string;
  isLogin: boolean;
  /** Whom the log names. */
  actor: EventSubject;
}

export type Login = ReturnType<typeof createLogin>;

/** Verifies passwords; starts, refreshes and ends sessions. */
export function createLogin(
  config: Config,
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
    const { language, clientAddress: address } = context;
    const name = login.toLowerCase();
    const found = await accounts.findForLogin(name, address);
    const actor = { userId: found?.id };
    const attempt: PasswordAttempt = { names: [name], account: found, password, isLogin: true, actor };
    const account = await verifyAttempt(attempt, context);
    if (account.isSuspended) {
      context.logSecurityEvent('login_suspended', actor);
      throw new ApiError(authErrors.accountSuspended);
    }

    const isOutdated = passwords.needsRehash(account.passwordHash);
    const passwordHash = isOutdated
      ? await passwords.hash(password, { clientAddress: address, isLogin: true })
      : account.passwordHash;
    const session = await database.transaction(async (tx) => {
      if (!(await accounts.recordLogin(tx, account, { passwordHash, address, language }))) return undefined;
      await loginFailures.clear(tx, countersOf([account.username, account.email], account, context));
      return sessions.create(tx, account.id, context);
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
    const account = await accounts.findForPasswordCheck(userId, context.clientAddress);
    if (account === undefined) throw tokenNotValid('access', 'revoked', context.language);
    const actor = { userId, sessionId };
    await verifyAttempt({ names: [username, email], account, password, isLogin: false, actor }, context);
    // Somebody else knows the password, and would make the reset link void or delete the account.
    if (account.needsReset) throw new ApiError(authErrors.resetRequired);
    return account.passwordHash;
  }

  /**
   * Verifies a password. Too many failures delay further attempts, whether their password is right or not.
   *
   * @throws {ApiError} `invalid_credentials`, `too_many_attempts`
   */
  async function verifyAttempt(
    { names, account, password, isLogin, actor }: PasswordAttempt,
    context: RequestContext,
  ): Promise<PasswordAccount> {
    const counters = countersOf(names, account, context);
    const rejectFor = (seconds: number) => {
      if (seconds <= 0) return;
      context.logSecurityEvent('login_delayed', actor);
      throw retryLater(isLogin ? authErrors.tooManyLogins : authErrors.tooManyPasswords, seconds);
    };
    rejectFor(await loginFailures.delay(counters));
    const { clientAddress } = context;
    const request = isLogin ? { clientAddress, isLogin } : { clientAddress, userId: account?.id };
    const isRight = await passwords.verify(names[0], account?.passwordHash, password, request);
    if (account === undefined || !isRight) {
      rejectFor(await loginFailures.count(counters));
      context.logSecurityEvent('login_failed', actor);
      throw new ApiError(isLogin ? authErrors.invalidCredentials : authErrors.wrongPassword);
    }
    // The delay may have begun while this hash was computed. A right password must not be confirmed during a delay.
    rejectFor(await loginFailures.delay(counters));
    return account;
  }

  /** The counters of failures with some names, of their own for an address that the account is known to use. */
  function countersOf(
    names: string[],
    account: PasswordAccount | undefined,
    { clientAddress }: RequestContext,
  ) {
    return loginFailures.keysOf(names, account?.isAddressKnown ? clientAddress : undefined);
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
    const accessLifetime = wholeSeconds(Math.min(config.tokens.accessTtl, session.refreshExpiresIn));
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
