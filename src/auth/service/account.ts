import { type CurrentUser, tokenNotValid } from '../../http/authentication.ts';
import { ApiError } from '../../http/errors.ts';
import type { RequestContext } from '../../http/request-context.ts';
import type { AuthDependencies } from '../dependencies.ts';
import { authErrors } from '../errors.ts';
import { passwordChangedNotice } from '../mails.ts';
import { checkNewPassword } from '../passwords.ts';
import { toUser } from '../presenters.ts';
import type { User } from '../schemas.ts';
import { lockWithoutStore, removeAccount } from './account-removal.ts';
import { verifyOwnPassword } from './password-attempts.ts';

/** Changes that a logged-in user makes to the account. */
export function createAccountService(dependencies: AuthDependencies) {
  const { config, database, accounts, sessions, passwords } = dependencies;
  const { passwordResets, mailQueue } = dependencies;

  /** @throws {ApiError} `token_not_valid` when the account was deleted meanwhile */
  async function rename(user: CurrentUser, name: string, { language }: RequestContext): Promise<User> {
    const changed = await accounts.rename(user.id, name);
    if (changed === undefined) throw tokenNotValid('access', 'revoked', language);
    return toUser(changed);
  }

  /**
   * Sets a new password; every other session ends.
   *
   * @throws {ApiError} `invalid_credentials`, `too_many_attempts`, `validation_error`
   */
  async function changePassword(
    user: CurrentUser,
    currentPassword: string,
    newPassword: string,
    context: RequestContext,
  ): Promise<void> {
    checkNewPassword('new_password', newPassword, user, config.password.minLength);
    const currentHash = await verifyOwnPassword(dependencies, user, currentPassword, context);
    const passwordHash = await passwords.hash(newPassword, { ...context, userId: user.id });
    const changed = await database.runInTransaction(async (tx) => {
      // Into an unverified account with a store, a reset is the only way for the owner of the address.
      const isOnlyWay = !user.is_verified && !(await lockWithoutStore(dependencies, tx, user));
      if (!isOnlyWay) await passwordResets.revoke(tx, user.email);
      if (!(await accounts.replacePassword(tx, user.id, passwordHash, currentHash))) return false;
      await sessions.endOthers(tx, { userId: user.id, sessionId: user.sessionId });
      await mailQueue.addUnrequested(tx, passwordChangedNotice(user.id, context.language));
      return true;
    });
    if (!changed) throw new ApiError(authErrors.wrongPassword);
    context.audit('password_changed', { userId: user.id, sessionId: user.sessionId });
  }

  /**
   * Deletes the account with everything that only it has; its username and e-mail address are free again.
   *
   * @throws {ApiError} `invalid_credentials`, `too_many_attempts`
   */
  async function deleteAccount(user: CurrentUser, password: string, context: RequestContext): Promise<void> {
    await verifyOwnPassword(dependencies, user, password, context);
    const account = { id: user.id, email: user.email, isVerified: user.is_verified };
    const deleted = await database.runInTransaction((tx) => removeAccount(dependencies, tx, account));
    if (!deleted) throw tokenNotValid('access', 'revoked', context.language);
    context.audit('account_deleted', { userId: user.id, sessionId: user.sessionId });
  }

  return { rename, changePassword, deleteAccount };
}
