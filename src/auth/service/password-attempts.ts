import { ApiError, type ErrorDefinition, retryLater } from '../../http/errors.ts';
import type { EventSubject, RequestContext } from '../../http/request-context.ts';
import type { AuthDependencies } from '../dependencies.ts';
import type { Delays } from '../repository/login-failures.ts';

/** A password that a client sent for an account. */
export interface PasswordAttempt {
  /** Folded: what was typed at a login, both names of a logged-in user. Each has counters of its own. */
  names: [string, ...string[]];
  /** Undefined when the account does not exist; the check takes the same time. */
  passwordHash: string | undefined;
  password: string;
  /** Whether the account logged in from the client's address lately. */
  fromKnownAddress: boolean;
  /** Whom the log names. */
  actor: EventSubject;
  /** The failures for a wrong password and for too many of them. */
  errors: { wrong: ErrorDefinition; tooMany: ErrorDefinition };
}

/**
 * Verifies a password. After too many failures with a name, with or without an account, further attempts are delayed: those
 * from one address by its own failures, whether the password is right or not, and those from all addresses by the failures
 * of all. The latter delay does not hold for a right password from a known address, so that a stranger cannot lock the owner
 * out.
 *
 * A wrong password is answered, counted and timed alike whether the address is known or not. Otherwise a client that shares
 * the owner's address could tell which names have logged in from there.
 *
 * @throws {ApiError} `attempt.errors`
 */
export async function verifyPasswordAttempt(
  { passwords, loginFailures }: AuthDependencies,
  attempt: PasswordAttempt,
  context: RequestContext,
): Promise<void> {
  const { names, passwordHash, password, fromKnownAddress, actor, errors } = attempt;
  const address = context.clientAddress;
  const refuseFor = ({ general, own }: Delays) => {
    const seconds = Math.max(general, own);
    if (seconds <= 0) return;
    context.audit('login_delayed', actor);
    throw retryLater(errors.tooMany, seconds);
  };
  const before = await loginFailures.delays(names, address);
  if (before.own > 0) refuseFor(before);
  if (await passwords.verify(names[0], passwordHash, password)) {
    // A delay may have begun while this hash was computed. A right password must not be confirmed during a delay.
    const now = await loginFailures.delays(names, address);
    const general = fromKnownAddress ? 0 : now.general;
    if (now.own <= 0 && general <= 0) return;
    await loginFailures.count(names, address);
    refuseFor(now);
  }
  refuseFor(await loginFailures.count(names, address));
  context.audit('login_failed', actor);
  throw new ApiError(errors.wrong);
}
