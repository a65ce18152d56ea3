import { ApiError, type ErrorDefinition, retryLater } from '../../http/errors.ts';
import type { EventSubject, RequestContext } from '../../http/request-context.ts';
import type { AuthDependencies } from '../dependencies.ts';

/** A password that a client sent for an account. */
export interface PasswordAttempt {
  /** Folded; chooses the parameters with which a password for an unknown account is hashed. */
  name: string;
  /** The keys of the counters of failures. */
  counters: string[];
  /** Undefined when the account does not exist; the check takes the same time. */
  passwordHash: string | undefined;
  password: string;
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
  const { name, counters, passwordHash, password, actor, errors } = attempt;
  const refuseFor = (seconds: number) => {
    if (seconds <= 0) return;
    context.audit('login_delayed', actor);
    throw retryLater(errors.tooMany, seconds);
  };
  refuseFor(await loginFailures.delay(counters));
  if (!(await passwords.verify(name, passwordHash, password))) {
    refuseFor(await loginFailures.count(counters));
    context.audit('login_failed', actor);
    throw new ApiError(errors.wrong);
  }
  // The delay may have begun while this hash was computed. A right password must not be confirmed during a delay.
  refuseFor(await loginFailures.delay(counters));
}
