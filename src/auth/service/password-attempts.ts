import { type CurrentUser, tokenNotValid } from '../../http/authentication.ts';
import { ApiError, type ErrorDefinition, retryLater } from '../../http/errors.ts';
import type { EventSubject, RequestContext } from '../../http/request-context.ts';
import type { AuthDependencies } from '../dependencies.ts';
import { authErrors } from '../errors.ts';
import type { HashRequest } from '../passwords.ts';

/** A password that a client sent for an account. */
interface PasswordAttempt {
  /** Folded; chooses the parameters with which a password for an unknown account is hashed. */
  name: string;
  /** The keys of the counters of failures. */
  counters: string[];
  /** Undefined when the account does not exist; the check takes the same time. */
  passwordHash: string | undefined;
  password: string;
  request: HashRequest;
  /** Whom the log names. */
  actor: EventSubject;
  /** The failures for a wrong password and for too many of them. */
  errors: { wrong: ErrorDefinition; tooMany: ErrorDefinition };
}

/**
 * Verifies a password. Too many failures delay further attempts, whether their password is right or not.
 *
 * @throws {ApiError} `attempt.errors`
 */
export async function verifyPasswordAttempt(
  { passwords, loginFailures }: AuthDependencies,
  attempt: PasswordAttempt,
  context: RequestContext,
): Promise<void> {
  const { name, counters, passwordHash, password, request, actor, errors } = attempt;
  const refuseFor = (seconds: number) => {
    if (seconds <= 0) return;
    context.audit('login_delayed', actor);
    throw retryLater(errors.tooMany, seconds);
  };
  refuseFor(await loginFailures.delay(counters));
  if (!(await passwords.verify(name, passwordHash, password, request))) {
    refuseFor(await loginFailures.count(counters));
    context.audit('login_failed', actor);
    throw new ApiError(errors.wrong);
  }
  // The delay may have begun while this hash was computed. A right password must not be confirmed during a delay.
  refuseFor(await loginFailures.delay(counters));
}

const ownPasswordErrors = { wrong: authErrors.wrongPassword, tooMany: authErrors.tooManyPasswords };

/**
 * Verifies the password of a logged-in user. Failures count like failed logins, so that a stolen access token cannot be used
 * to guess the password.
 *
 * @returns the hash that the password was verified against
 * @throws {ApiError} `invalid_credentials`, `too_many_attempts`, `token_not_valid`; `forbidden` after an undone change of e-mail
 */
export async function verifyOwnPassword(
  dependencies: AuthDependencies,
  { id: userId, sessionId, username, email }: CurrentUser,
  password: string,
  context: RequestContext,
): Promise<string> {
  const { accounts, loginFailures } = dependencies;
  const { clientAddress: address, language } = context;
  const account = await accounts.findForPasswordCheck(userId, address);
  if (account === undefined) throw tokenNotValid('access', 'revoked', language);
  const { passwordHash, fromKnownAddress } = account;
  const counters = loginFailures.keysOf([username, email], fromKnownAddress ? address : undefined);
  const actor = { userId, sessionId };
  const request = { clientAddress: address, userId };
  const errors = ownPasswordErrors;
  const attempt = { name: username, counters, passwordHash, password, request, actor, errors };
  await verifyPasswordAttempt(dependencies, attempt, context);
  // Somebody else knows the password, and would make the reset link void or delete the account.
  if (account.needsReset) throw new ApiError(authErrors.resetRequired);
  return passwordHash;
}
