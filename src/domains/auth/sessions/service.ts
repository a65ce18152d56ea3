import { type CurrentUser, tokenNotValid } from '../../../http/authentication.ts';
import { ApiError, retryLater } from '../../../http/errors.ts';
import type { RequestContext } from '../../../http/request-context.ts';
import type { AuthBase } from '../context.ts';
import { authErrors } from '../errors.ts';
import { type Credentials, type TokenPair, type TokenPairWithUser, toUser } from '../schemas.ts';
import type { TokenClaims } from '../tokens.ts';
import type { LoginAccount, LoginSubject } from './login-repository.ts';
import { flowLifetimes, type LiveSession } from './repository.ts';

/** A password that a client sent for an account, without which the check takes the same time; with the user who is logged in. */
type PasswordAttempt = { subject: LoginSubject; password: string; user?: CurrentUser };

/** How a user proved to be the owner of an account. */
export interface LoginProof {
  methods: string[];
  /** Whose delay rejects the login. */
  counters?: string[];
  /** With the current parameters. */
  passwordHash?: string | null;
}

const codeMethods = ['totp', 'recovery_code'];
/** A passkey counts as both factors, because it verifies its user. */
const secondFactors = ['passkey', ...codeMethods];

export type LoginService = ReturnType<typeof createLogin>;
/** Verifies passwords; starts, refreshes and ends sessions. */
export function createLogin(auth: AuthBase) {
  const { config, database, tokens, passwords, accounts, logins, sessions, flows } = auth;

  /** @throws {ApiError} `invalid_credentials`, `too_many_attempts`, and as {@link startSession} */
  async function logIn(credentials: Credentials, context: RequestContext): Promise<TokenPairWithUser> {
    const { username: login, password } = credentials;
    const subject = await logins.find(login.toLowerCase(), context.clientAddress);
    const account = await verifyAttempt({ subject, password }, context);
    const isOutdated = !account.isSuspended && passwords.needsRehash(account.passwordHash);
    const passwordHash = isOutdated
      ? await passwords.hash(password, { ...context, isLogin: true })
      : account.passwordHash;
    const proof = { methods: ['password'], counters: subject.counters, passwordHash };
    // A delay began, or the account was suspended or its hash replaced meanwhile, for example by a concurrent login.
    return (await startSession(account, proof, context)) ?? logIn(credentials, context);
  }

  /**
   * The end of every way to log in: begins a session, unless a one-time code is missing.
   * @param account in the state in which the user proved to be its owner
   * @returns undefined when the account was changed or deleted meanwhile, or a delay has begun
   */
  async function startSession(account: LoginAccount, proof: LoginProof, context: RequestContext) {
    const { methods, counters = [], passwordHash = account.passwordHash } = proof;
    if (account.isSuspended) {
      context.logSecurityEvent('login_suspended', account);
      throw new ApiError(authErrors.accountSuspended);
    }
    if (account.hasSecondFactor && !methods.some((method) => secondFactors.includes(method))) {
      const flow = await beginSecondFactor(account, methods, passwordHash);
      if (flow === undefined) return undefined;
      context.logSecurityEvent('second_factor_required', account);
      const expires_in = flowLifetimes.second_factor;
      const data = { second_factor_token: flow.token, methods: codeMethods, expires_in };
      throw new ApiError(authErrors.secondFactorRequired, { data });
    }
    const session = await logins.record(account, counters, { ...context, methods, passwordHash });
    if (session === undefined) return undefined;
    context.logSecurityEvent('login', { id: account.id, sessionId: session.sessionId });
    return { ...toTokenPair(session), user: toUser(account) };
  }

  /** @returns undefined after a reset of the password, which has ended the open logins: this one would come after it */
  function beginSecondFactor({ id, passwordHash }: LoginAccount, methods: string[], newHash: string | null) {
    return database.transaction(async (tx) => {
      const current = await accounts.lock(tx, id);
      if (current?.passwordHash !== passwordHash) return undefined;
      if (newHash !== passwordHash) await accounts.change(tx, { id }, { passwordHash: newHash });
      return flows.begin(tx, 'second_factor', { user: { id }, data: { methods } });
    });
  }

  /** The password of a logged-in user: a stolen access token cannot be used to guess it, as failures count. @returns the hash */
  async function verifyOwnPassword(user: CurrentUser, password: string, context: RequestContext) {
    const subject = await logins.findOwn(user, context.clientAddress);
    if (subject.account === undefined) throw tokenNotValid('access', 'revoked');
    const account = await verifyAttempt({ subject, password, user }, context);
    // Somebody else knows the password, and would make the reset link void or delete the account.
    if (account.needsReset) throw new ApiError(authErrors.resetRequired);
    return account.passwordHash;
  }

  /** Verifies a password. Too many failures delay further attempts, whether their password is right or not. */
  async function verifyAttempt({ subject, password, user }: PasswordAttempt, context: RequestContext) {
    const { account, counters, delay } = subject;
    const actor = user ?? { id: account?.id };
    const rejectFor = (seconds: number) => {
      if (seconds <= 0) return;
      context.logSecurityEvent('login_delayed', actor);
      throw retryLater(user ? authErrors.tooManyPasswords : authErrors.tooManyLogins, seconds);
    };
    rejectFor(delay);
    const passwordHash = account?.passwordHash ?? undefined;
    const request = { ...context, userId: user?.id, isLogin: user === undefined };
    const isRight = await passwords.verify(passwordHash, password, request);
    if (account === undefined || passwordHash === undefined || !isRight) {
      rejectFor(await logins.countFailure(counters));
      context.logSecurityEvent('login_failed', actor);
      throw new ApiError(user ? authErrors.wrongPassword : authErrors.invalidCredentials);
    }
    // A right password must not be confirmed during a delay that has begun meanwhile. The statement of a login checks it as well.
    if (user || account.isSuspended || account.hasSecondFactor) rejectFor(await logins.delay(counters));
    return { ...account, passwordHash };
  }

  async function refresh(refreshToken: string, context: RequestContext): Promise<TokenPair> {
    const claims = verifyRefreshToken(refreshToken);
    const session = await sessions.refresh(claims);
    if (session) return toTokenPair(session);
    const isReused = await sessions.endReused(claims);
    const { userId: id, sessionId } = claims;
    if (isReused) context.logSecurityEvent('refresh_reused', { id, sessionId });
    throw tokenNotValid('refresh', isReused ? 'reused' : 'revoked');
  }

  async function logOutByRefreshToken(refreshToken: string, context: RequestContext): Promise<void> {
    const { userId: id, sessionId } = verifyRefreshToken(refreshToken);
    if (!(await sessions.end(id, sessionId))) throw tokenNotValid('refresh', 'revoked');
    context.logSecurityEvent('logout', { id, sessionId });
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

  return { logIn, startSession, verifyOwnPassword, refresh, logOutByRefreshToken };
}
