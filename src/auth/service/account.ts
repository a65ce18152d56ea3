import type { FastifyRequest } from 'fastify';
import { audit } from '../../http/audit.ts';
import { type CurrentUser, tokenNotValid } from '../../http/authentication.ts';
import { ApiError, invalidFields } from '../../http/errors.ts';
import { clientAddress } from '../../http/plugins/rate-limits.ts';
import type { AuthDependencies } from '../dependencies.ts';
import { authErrors } from '../errors.ts';
import { passwordProblems } from '../passwords.ts';
import { createPasswordCheck } from './password-check.ts';
import { queuePasswordChanged } from './password-reset.ts';

/** Changes of an account that its owner makes while logged in. */
export function createAccountService(dependencies: AuthDependencies) {
  const { config, database, accounts, sessions, passwords, loginFailures, closeAccount } = dependencies;
  const { emailCodes, passwordResets } = dependencies;
  const judge = createPasswordCheck(dependencies);

  /**
   * Sets a new password; every other session ends.
   *
   * @throws {ApiError} `invalid_credentials`, `too_many_attempts`, `validation_error`
   */
  async function changePassword(
    user: CurrentUser,
    current: string,
    next: string,
    request: FastifyRequest,
  ): Promise<void> {
    const problems = passwordProblems('new_password', next, user, config.password.minLength);
    if (Object.keys(problems).length > 0) throw invalidFields(problems);
    const currentHash = await checkPassword(user, current, request);
    const passwordHash = await passwords.hash(next);
    const changed = await database.transaction(async (tx) => {
      await passwordResets.revoke(tx, user.email);
      if (!(await accounts.replacePassword(tx, user.id, passwordHash, currentHash))) return false;
      await sessions.endAll(tx, user.id, user.sessionId);
      await queuePasswordChanged(dependencies, tx, user.id, request.language);
      return true;
    });
    if (!changed) throw new ApiError(authErrors.wrongPassword);
    audit(request, 'password_changed', { userId: user.id, sessionId: user.sessionId });
  }

  /**
   * Removes the account with everything that only it has; its username and e-mail address are free again.
   *
   * @throws {ApiError} `invalid_credentials`, `too_many_attempts`
   */
  async function remove(user: CurrentUser, password: string, request: FastifyRequest): Promise<void> {
    await checkPassword(user, password, request);
    const removed = await database.transaction(async (tx) => {
      await passwordResets.revoke(tx, user.email);
      await emailCodes.forget(tx, user.email);
      await closeAccount(tx, user.id);
      return accounts.remove(tx, user.id);
    });
    if (!removed) throw tokenNotValid('access', 'revoked', request.language);
    audit(request, 'account_deleted', { userId: user.id, sessionId: user.sessionId });
  }

  /**
   * Failures count as failed logins do, so that a stolen access token cannot be used to guess the password.
   *
   * @returns the hash that the password was checked against
   */
  async function checkPassword(
    user: CurrentUser,
    password: string,
    request: FastifyRequest,
  ): Promise<string> {
    const address = clientAddress(request);
    const account = await accounts.findForPasswordCheck(user.id, address);
    // Deleted since the token was read.
    if (account === undefined) throw tokenNotValid('access', 'revoked', request.language);
    const { passwordHash, fromKnownAddress } = account;
    const key = loginFailures.keyOf({ userId: user.id }, fromKnownAddress ? address : undefined);

    const who = { userId: user.id, sessionId: user.sessionId };
    await judge({ key, passwordHash, password, who, wrong: authErrors.wrongPassword }, request);
    return passwordHash;
  }

  return { changePassword, remove };
}
