import { type CurrentUser, tokenNotValid } from '../../../http/authentication.ts';
import { ApiError, retryLater } from '../../../http/errors.ts';
import type { EventSubject, RequestContext } from '../../../http/request-context.ts';
import type { Config } from '../../../infrastructure/config/config.ts';
import type { Database } from '../../../infrastructure/database/client.ts';
import type { AuthRepository } from '../context.ts';
import { authErrors } from '../errors.ts';
import type { Passwords } from '../passwords.ts';
import { toUser } from '../presenters.ts';
import type { TokenPair, TokenPairWithUser } from '../schemas.ts';
import type { TokenClaims, Tokens } from '../tokens.ts';
import { flowLifetimes } from './flow-repository.ts';
import type { LoginAccount, LoginSubject } from './login-repository.ts';
import type { LiveSession } from './repository.ts';

/** A password that a client sent for an account. */
interface PasswordAttempt {
  /** Without an account the check takes the same time. */
  subject: LoginSubject;
  password: string;
  isLogin: boolean;
  /** Whom the log names. */
  actor: EventSubject;
}

/** How a user proved to be the owner of an account. */
export interface Proof {
  methods: string[];
  counters?: string[];
  passwordHash?: string | null;
}

/** What a login may be completed with. */
const codeMethods = ['totp', 'recovery_code'];
/** A passkey counts as both factors, because it verifies its user. */
const secondFactors = ['passkey', ...codeMethods];

export type Login = ReturnType<typeof createLogin>;

/** Verifies passwords; starts, refreshes and ends sessions. */
export function createLogin(
  config: Config,
  database: Database,
  { accounts, logins, sessions, loginFailures, loginFlows }: AuthRepository,
  tokens: Tokens,
  passwords: Passwords,
) {
  /**
   * @param login the username or the email address
   * @throws {ApiError} `invalid_credentials`, `too_many_attempts`, and as {@link finish}
   */
  async function logIn(login: string, password: string, context: RequestContext): Promise<TokenPairWithUser> {
    const { clientAddress } = context;
    const subject = await logins.find(login.toLowerCase(), clientAddress);
    const actor = { userId: subject.account?.id };
    const account = await verifyAttempt({ subject, password, isLogin: true, actor }, context);
    const { passwordHash } = account;
    const isOutdated = !account.isSuspended && passwords.needsRehash(passwordHash);
    const newHash = isOutdated
      ? await passwords.hash(password, { clientAddress, isLogin: true })
      : passwordHash;
    if (isOutdated && account.hasSecondFactor) {
      await accounts.changePassword(database, account.id, passwordHash, newHash);
    }
    const attempt = { methods: ['password'], counters: subject.counters, passwordHash: newHash };
    // A delay began or the account was suspended meanwhile, or its hash was replaced, for example by a concurrent login that
    // rehashed it.
    return (await finish(account, attempt, context)) ?? logIn(login, password, context);
  }

  /**
   * The end of every way to log in: begins a session, unless a one-time code is missing.
   *
   * @param account in the state in which the user proved to be its owner
   * @param proof how, with the counters whose delay rejects the login, and a hash with the current parameters
   * @returns undefined when the account was changed or deleted meanwhile, or a delay has begun
   * @throws {ApiError} `account_suspended`, `second_factor_required`
   */
  async function finish(
    account: LoginAccount,
    { methods, counters = [], passwordHash = account.passwordHash }: Proof,
    context: RequestContext,
  ): Promise<TokenPairWithUser | undefined> {
    const userId = account.id;
    if (account.isSuspended) {
      context.logSecurityEvent('login_suspended', { userId });
      throw new ApiError(authErrors.accountSuspended);
    }
    if (account.hasSecondFactor && !methods.some((method) => secondFactors.includes(method))) {
      const flow = { userId, data: { methods } };
      const begun = await database.transaction(async (tx) => {
        const current = await accounts.lock(tx, userId);
        // A reset of the password has ended the open logins, and this one would come after it.
        if (!current || ![account.passwordHash, passwordHash].includes(current.passwordHash))
          return undefined;
        return loginFlows.begin(tx, 'second_factor', flow);
      });
      if (begun === undefined) return undefined;
      context.logSecurityEvent('second_factor_required', { userId });
      const data = {
        second_factor_token: begun.token,
        methods: codeMethods,
        expires_in: flowLifetimes.second_factor,
      };
      throw new ApiError(authErrors.secondFactorRequired, { data });
    }
    const session = await logins.record(account, counters, { ...context, methods, passwordHash });
    if (session === undefined) return undefined;
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
  async function verifyOwnPassword(user: CurrentUser, password: string, context: RequestContext) {
    const subject = await logins.findOwn(user, context.clientAddress);
    if (subject.account === undefined) throw tokenNotValid('access', 'revoked');
    const attempt = { subject, password, isLogin: false, actor: user };
    const account = await verifyAttempt(attempt, context);
    // Somebody else knows the password, and would make the reset link void or delete the account.
    if (account.needsReset) throw new ApiError(authErrors.resetRequired);
    return account.passwordHash;
  }

  /**
   * Verifies a password; an account without one has none that is right. Too many failures delay further attempts, whether their password is right or not.
   *
   * @throws {ApiError} `invalid_credentials`, `too_many_attempts`
   */
  async function verifyAttempt(
    { subject: { account, counters, delay }, password, isLogin, actor }: PasswordAttempt,
    context: RequestContext,
  ) {
    const rejectFor = (seconds: number) => {
      if (seconds <= 0) return;
      context.logSecurityEvent('login_delayed', actor);
      throw retryLater(isLogin ? authErrors.tooManyLogins : authErrors.tooManyPasswords, seconds);
    };
    rejectFor(delay);
    const { clientAddress } = context;
    const request = isLogin ? { clientAddress, isLogin } : { clientAddress, userId: account?.id };
    const passwordHash = account?.passwordHash ?? undefined;
    const isRight = await passwords.verify(passwordHash, password, request);
    if (account === undefined || passwordHash === undefined || !isRight) {
      rejectFor(await loginFailures.count(counters));
      context.logSecurityEvent('login_failed', actor);
      throw new ApiError(isLogin ? authErrors.invalidCredentials : authErrors.wrongPassword);
    }
    // The delay may have begun while this hash was computed. A right password must not be confirmed during a delay. The statement
    // of a login checks it as well.
    if (!isLogin || account.isSuspended || account.hasSecondFactor) {
      rejectFor(await loginFailures.delay(counters));
    }
    return { ...account, passwordHash };
  }

  /** @throws {ApiError} `token_not_valid` */
  async function refresh(refreshToken: string, context: RequestContext): Promise<TokenPair> {
    const claims = verifyRefreshToken(refreshToken);
    const session = await sessions.refresh(claims);
    if (session) return toTokenPair(session);
    const reused = await sessions.endReused(claims);
    if (reused) context.logSecurityEvent('refresh_reused', claims);
    throw tokenNotValid('refresh', reused ? 'reused' : 'revoked');
  }

  /** Ends the session of a refresh token. @throws {ApiError} `token_not_valid` */
  async function logOutByRefreshToken(refreshToken: string, context: RequestContext): Promise<void> {
    const claims = verifyRefreshToken(refreshToken);
    if (!(await sessions.end(claims))) throw tokenNotValid('refresh', 'revoked');
    context.logSecurityEvent('logout', claims);
  }

  function verifyRefreshToken(refreshToken: string): TokenClaims {
    const claims = tokens.verify('refresh', refreshToken);
    if ('problem' in claims) throw tokenNotValid('refresh', claims.problem);
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

  return { logIn, finish, verifyOwnPassword, refresh, logOutByRefreshToken };
}
