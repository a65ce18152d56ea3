import type { FastifyRequest } from 'fastify';
import { audit } from '../../http/audit.ts';
import { ApiError, type ErrorDefinition, retryLater } from '../../http/errors.ts';
import type { AuthDependencies } from '../dependencies.ts';
import { authErrors } from '../errors.ts';

interface Guess {
  /** Of the counter of failures that it counts in. */
  key: string;
  /** Undefined when there is no such account; that takes the same time. */
  passwordHash: string | undefined;
  password: string;
  /** Whom the log names. */
  who: { userId: number | undefined; sessionId?: string };
  /** The refusal of a wrong password. */
  wrong: ErrorDefinition;
}

/** Judges passwords, with a delay for an account whose password is guessed at. */
export function createPasswordCheck({
  passwords,
  loginFailures,
}: Pick<AuthDependencies, 'passwords' | 'loginFailures'>) {
  /** @throws {ApiError} `wrong`, or `too_many_attempts` while the account is delayed, whether the password is right or not */
  return async function checkPassword(guess: Guess, request: FastifyRequest): Promise<void> {
    const { key, passwordHash, password, who, wrong } = guess;
    await refuseWhileDelayed();
    if (!(await passwords.verify(passwordHash, password))) {
      const delay = await loginFailures.count(key);
      if (delay > 0) throw delayed(delay);
      audit(request, 'login_failed', who);
      throw new ApiError(wrong);
    }
    // Others may have failed meanwhile: a guess that is judged after the delay began is not told to be right.
    await refuseWhileDelayed();

    async function refuseWhileDelayed(): Promise<void> {
      const delay = await loginFailures.delay(key);
      if (delay > 0) throw delayed(delay);
    }

    function delayed(delay: number): ApiError {
      audit(request, 'login_delayed', who);
      return retryLater(authErrors.tooManyLogins, delay);
    }
  };
}
