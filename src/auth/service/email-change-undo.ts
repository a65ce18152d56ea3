import type { Tx } from '../../database/client.ts';
import { isUniqueViolation } from '../../database/errors.ts';
import { ApiError } from '../../http/errors.ts';
import type { RequestContext } from '../../http/request-context.ts';
import type { AuthDependencies } from '../dependencies.ts';
import { authErrors } from '../errors.ts';
import type { UndoLink } from '../repository/email-changes.ts';
import { removeUnverified } from './account-removal.ts';
import { takenError } from './taken-error.ts';

/** Undoes a change of the e-mail address with the link that its old address got. */
export function createEmailChangeUndo(dependencies: AuthDependencies) {
  const { database, accounts, emailChanges, emailCodes, passwordResets } = dependencies;
  const { sessions, mailSends, mailQueue } = dependencies;
  const taken = () => takenError('token', authErrors.oldEmailTaken);

  /**
   * Brings the old address back. The user may have lost the account: every session ends, a reset link goes to the address, and
   * until the password is reset, who knows it can change neither password nor address.
   * An unverified account without a store that has taken the address is deleted, as at a sign-up that proves its address.
   * A failure does not use the link up.
   *
   * @throws {ApiError} `undo_link_invalid`, `email_taken`
   */
  return async function undo(token: string, context: RequestContext): Promise<void> {
    const link = await emailChanges.openUndo(database, token);
    if (link === undefined) throw new ApiError(authErrors.undoLinkInvalid);
    const replaced = await database
      .runInTransaction((tx) => bringBack(tx, link, context))
      .catch((error: unknown) => {
        throw isUniqueViolation(error) ? taken() : error;
      });
    if (replaced !== undefined) context.audit('account_deleted', { userId: replaced });
    context.audit('email_change_undone', { userId: link.userId });
  };

  /** @returns the id of the account that had the address, which is deleted */
  async function bringBack(
    tx: Tx,
    link: UndoLink,
    { language }: RequestContext,
  ): Promise<number | undefined> {
    const { userId, email } = link;
    // The locks of a request for a reset link first, then those of a deletion, so in the same order as there.
    await mailSends.record(tx, 'reset_password', email);
    await emailCodes.lock(tx, [email]);
    await passwordResets.lock(tx, email);
    const holder = await accounts.findByEmail(tx, email);
    const isHeld = holder !== null && holder.id !== userId;
    const replaced = isHeld ? await removeUnverified(dependencies, tx, email) : undefined;
    const account = await emailChanges.lockAccount(tx, userId);
    if (account === undefined || !(await emailChanges.useUndo(tx, link))) {
      throw new ApiError(authErrors.undoLinkInvalid);
    }
    if (isHeld && replaced === undefined) throw taken();
    await emailChanges.setEmail(tx, userId, email);
    // Else somebody who knows the password could repeat the change until there is no link to undo it.
    await mailSends.forget(tx, 'email_change', email);
    await sessions.endAll(tx, userId);
    await accounts.forgetAddresses(tx, userId);
    await accounts.requireReset(tx, userId);
    const id = await passwordResets.issue(tx, email);
    await mailQueue.add(tx, 'reset_link', { id, language });
    return replaced;
  }
}
