import { ApiError, type ErrorDefinition, retryLater } from '../../http/errors.ts';
import type { EventSubject, RequestContext } from '../../http/request-context.ts';
import type { AuthDependencies } from '../dependencies.ts';
import { authErrors } from '../errors.ts';

/** A password that a client sent for an account. */
export interface PasswordAttempt {
  /** The key of the counter of failures. */
  key: string;
  /** Undefined when the account does not exist; the check takes the same time. */
  passwordHash: string | undefined;
  password: string;
  /** Whom the log names. */
  actor: EventSubject;
  /** The failure for a wrong password. */
  error: ErrorDefinition;
}

/**
 * Verifies a password. Too many failures delay further attempts for the account, whether their password is right or not.
 *
 * @throws {ApiError} `attempt.error`, `too_many_attempts`
 */
export async function verifyPasswordAttempt(
  { passwords, loginFailures }: AuthDependencies,
  attempt: PasswordAttempt,
  context: RequestContext,
): Promise<void> {
  const { key, passwordHash, password, actor, error } = attempt;
  const refuseFor = (seconds: number) => {
    if (seconds <= 0) return;
    context.audit('login_delayed', actor);
    throw retryLater(authErrors.tooManyLogins, seconds);
  };
  refuseFor(await loginFailures.delay(key));
  if (!(await passwords.verify(passwordHash, password))) {
    refuseFor(await loginFailures.count(key));
    context.audit('login_failed', actor);
    throw new ApiError(error);
  }
  // The delay may have begun while this hash was computed. A right password must not be confirmed during a delay.
  refuseFor(await loginFailures.delay(key));
}
