import type { CurrentUser } from '../../../http/authentication.ts';
import { ApiError, invalidFields } from '../../../http/errors.ts';
import { problems } from '../../../http/field-errors.ts';
import type { RequestContext } from '../../../http/request-context.ts';
import type { Database, Tx } from '../../../infrastructure/database/client.ts';
import { isUniqueViolation } from '../../../infrastructure/database/errors.ts';
import type { MailQueue } from '../../../infrastructure/mail/queue.ts';
import type { AccountRemoval } from '../accounts/removal.ts';
import type { RemovableAccount, UserRow } from '../accounts/repository.ts';
import { type UndoLink, undoDays, type WrongCode } from '../codes/repository.ts';
import type { EmailVerification } from '../codes/service.ts';
import type { AuthRepository } from '../context.ts';
import { authErrors, takenError } from '../errors.ts';
import { toUser } from '../presenters.ts';
import type { EmailChange, User } from '../schemas.ts';
import type { ConfirmationService } from '../sessions/confirmation.ts';

const currentAddress = {
  field: 'new_email',
  code: 'duplicate',
  text: {
    ko: '지금 사용하고 있는 이메일입니다. 다른 이메일을 입력해 주세요.',
    en: 'This is the current address of the account.',
  },
} as const;

export type EmailChangeService = ReturnType<typeof createEmailChange>;

/**
 * Changes the email address of an account to one that the user has proven with a mailed code, and undoes that with the link
 * that the old address got.
 */
export function createEmailChange(
  database: Database,
  mailQueue: MailQueue,
  { accounts, sessions, emailCodes, passwordResets, logins, undoLinks, mailSends }: AuthRepository,
  confirmation: ConfirmationService,
  { codeError }: EmailVerification,
  { removeUnverified }: AccountRemoval,
) {
  /**
   * Changes the address; every other session ends, and the old address gets a notice if it was verified.
   *
   * @throws {ApiError} `validation_error`, `invalid_credentials`, `forbidden`, `invalid_code`, `verification_token_invalid`,
   * `too_many_attempts`, `email_taken`
   */
  async function change(user: CurrentUser, input: EmailChange, context: RequestContext): Promise<User> {
    const { new_email: newEmail } = input;
    if (newEmail === user.email) throw invalidFields([currentAddress]);
    if (!input.code && !input.verification_token)
      throw invalidFields([{ field: 'code', ...problems.required }]);
    const passwordHash = await confirmation.authorize(user, input.password, context);
    const attempt = await confirmation
      .locked(user, { passwordHash, names: [newEmail] }, (tx, account) =>
        tryChange(tx, { id: user.id, ...account }, { ...input, sessionId: user.sessionId }, context),
      )
      .catch((error: unknown) => {
        // The whole transaction was rolled back, so the code still works.
        throw isUniqueViolation(error) ? takenError('new_email', authErrors.newEmailTaken) : error;
      });
    if (attempt === undefined) return change(await confirmation.readAgain(user), input, context);
    if (!attempt.correct) {
      context.logSecurityEvent('email_code_failed', user);
      throw await codeError(newEmail, attempt);
    }
    context.logSecurityEvent('email_changed', user);
    return toUser(attempt.user);
  }

  /** Both addresses and the account are locked. */
  async function tryChange(
    tx: Tx,
    { id: userId, email: oldEmail, isVerified }: RemovableAccount,
    {
      new_email: newEmail,
      code = '',
      verification_token: proof,
      sessionId,
    }: EmailChange & { sessionId: string },
    { language }: RequestContext,
  ): Promise<{ correct: true; user: UserRow } | WrongCode> {
    if (proof !== undefined) {
      const isProven = await emailCodes.useProof(tx, newEmail, proof);
      if (!isProven) throw new ApiError(authErrors.verificationTokenInvalid);
    } else {
      const holder = await accounts.find(tx, { email: newEmail });
      const result = await emailCodes.tryCode(tx, newEmail, code, !holder?.isVerified);
      if (!result.correct) return result;
    }
    if (isVerified) {
      const id = await undoLinks.issue(tx, userId, { oldEmail, newEmail });
      const notice = { purpose: 'email_change', kind: 'email_changed', userId } as const;
      // While the account still has the old address, so that the notice counts for that one.
      await mailQueue.addUnrequested(tx, { ...notice, payload: { id, changed_at: Date.now(), language } });
      await emailCodes.revoke(tx, oldEmail);
    }
    await passwordResets.revoke(tx, oldEmail);
    const changed = await accounts.setEmail(tx, userId, newEmail);
    await sessions.endAll(tx, userId, sessionId);
    return { correct: true, user: changed };
  }

  /**
   * Brings the old address back. The user may have lost the account: every session ends, ways to log in that were added since the
   * change are removed, a reset link goes to the address, and until the password is reset, who knows it can change neither
   * password nor address.
   * An unverified account without a store that has taken the address is deleted, as at a sign-up that proves its address.
   * An error does not use the link up.
   *
   * @throws {ApiError} `undo_link_invalid`, `email_taken`
   */
  async function undo(token: string, context: RequestContext): Promise<void> {
    const link = await undoLinks.open(token);
    if (link === null) throw new ApiError(authErrors.undoLinkInvalid);
    const replaced = await database
      .transaction((tx) => bringBack(tx, link, context))
      .catch((error: unknown) => {
        throw isUniqueViolation(error) ? takenError('token', authErrors.oldEmailTaken) : error;
      });
    if (replaced !== undefined) context.logSecurityEvent('account_deleted', { userId: replaced });
    context.logSecurityEvent('email_change_undone', { userId: link.userId });
  }

  /** @returns the id of the account that had the address, which is deleted */
  async function bringBack(tx: Tx, link: UndoLink, { language }: RequestContext) {
    const { userId, oldEmail: email } = link;
    await accounts.lockNames(tx, email);
    await mailSends.record(tx, 'reset_password', email);
    const holder = await accounts.find(tx, { email });
    const isHeld = holder !== null && holder.id !== userId;
    const replaced = isHeld ? await removeUnverified(tx, email) : undefined;
    const account = await accounts.lock(tx, userId);
    if (account === undefined || !(await undoLinks.use(tx, link))) {
      throw new ApiError(authErrors.undoLinkInvalid);
    }
    if (isHeld && replaced === undefined) throw takenError('token', authErrors.oldEmailTaken);
    await accounts.setEmail(tx, userId, email, true);
    // Else somebody who knows the password could repeat the change until there is no link to undo it.
    await mailSends.forget(tx, 'email_change', email);
    await sessions.endAll(tx, userId);
    await logins.forgetAddresses(tx, userId);
    const changedAt = new Date(link.expiresAt.getTime() - undoDays * 86_400_000);
    await accounts.removeLoginMethods(tx, userId, changedAt);
    const id = await passwordResets.issue(tx, email);
    await mailQueue.add(tx, 'reset_link', { id, language });
    return replaced;
  }

  return { change, undo };
}
