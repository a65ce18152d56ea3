import type { CurrentUser } from '../../../http/authentication.ts';
import { ApiError, invalidFields } from '../../../http/errors.ts';
import { problems } from '../../../http/field-errors.ts';
import type { RequestContext } from '../../../http/request-context.ts';
import type { Tx } from '../../../infrastructure/database/client.ts';
import { isUniqueViolation } from '../../../infrastructure/database/errors.ts';
import type { RemovableAccount, UserRow } from '../accounts/repository.ts';
import type { AuthContext } from '../context.ts';
import { authErrors, takenError } from '../errors.ts';
import { changeNotice } from '../notices.ts';
import { toUser, type User } from '../schemas.ts';
import { type UndoLink, undoDays, type WrongCode } from './repository.ts';
import type { EmailChange } from './schemas.ts';

const currentAddress = {
  field: 'new_email',
  code: 'duplicate',
  text: {
    ko: '지금 사용하고 있는 이메일입니다. 다른 이메일을 입력해 주세요.',
    en: 'This is the current address of the account.',
  },
} as const;

type Attempt = Pick<RemovableAccount, 'email' | 'isVerified'> & { user: CurrentUser; input: EmailChange };

/** Changes the email address of an account to one that its user has proven, and undoes that with the link that the old one got. */
export function createEmailChange(auth: AuthContext) {
  const { database, mailQueue, confirmation, emails, removal, accounts, sessions } = auth;
  const { emailCodes, passwordResets, logins, undoLinks, mailSends } = auth;

  /** Changes the address; every other session ends, and the old address gets a notice if it was verified. */
  async function change(user: CurrentUser, input: EmailChange, context: RequestContext): Promise<User> {
    const { new_email: newEmail } = input;
    const attempt = await confirmation
      .runLocked(user, async (current) => {
        if (newEmail === current.email) throw invalidFields([currentAddress]);
        if (!input.code && !input.verification_token)
          throw invalidFields([{ field: 'code', ...problems.required }]);
        const passwordHash = await confirmation.authorize(current, input.password, context);
        return {
          passwordHash,
          names: [newEmail],
          work: (tx, account) => tryChange(tx, { user, input, ...account }, context),
        };
      })
      .catch((error: unknown) => {
        // The whole transaction was rolled back, so the code still works.
        throw isUniqueViolation(error) ? takenError('new_email', authErrors.newEmailTaken) : error;
      });
    if (!attempt.correct) {
      context.logSecurityEvent('email_code_failed', user);
      throw await emails.codeError(newEmail, attempt);
    }
    context.logSecurityEvent('email_changed', user);
    return toUser(attempt.user);
  }

  /** Both addresses and the account are locked. */
  async function tryChange(
    tx: Tx,
    { user: { id, sessionId }, input, email: oldEmail, isVerified }: Attempt,
    { language }: RequestContext,
  ): Promise<{ correct: true; user: UserRow } | WrongCode> {
    const { new_email: newEmail, code = '', verification_token: proof } = input;
    if (proof !== undefined) {
      const isProven = await emailCodes.useProof(tx, newEmail, proof);
      if (!isProven) throw new ApiError(authErrors.verificationTokenInvalid);
    } else {
      const result = await emailCodes.tryCode(tx, newEmail, code);
      if (!result.correct) return result;
    }
    if (isVerified) {
      const link = await undoLinks.issue(tx, id, { oldEmail, newEmail });
      // While the account still has the old address, so that the notice counts for that one.
      await mailQueue.addUnrequested(tx, changeNotice('email_changed', { id, language }, { id: link }));
      await emailCodes.revoke(tx, oldEmail);
    }
    await passwordResets.revoke(tx, oldEmail);
    const changed = await accounts.setEmail(tx, id, { email: newEmail });
    await sessions.endAll(tx, id, sessionId);
    return { correct: true, user: changed };
  }

  /**
   * Brings the old address back. Somebody else may have the account: every session ends, ways to log in that were added since the
   * change are removed, a reset link goes to the address, and until then the password changes neither password nor address. An
   * unverified account without a store that has taken the address is deleted. An error does not use the link up.
   */
  async function undo(token: string, context: RequestContext): Promise<void> {
    const link = await undoLinks.open(token);
    if (link === null) throw new ApiError(authErrors.undoLinkInvalid);
    await database
      .transaction((tx) => bringBack(tx, link, context))
      .catch((error: unknown) => {
        throw isUniqueViolation(error) ? takenError('token', authErrors.oldEmailTaken) : error;
      });
    context.logSecurityEvent('email_change_undone', { id: link.userId });
  }

  async function bringBack(tx: Tx, link: UndoLink, context: RequestContext): Promise<void> {
    const { userId, oldEmail: email } = link;
    await accounts.lockNames(tx, email);
    await mailSends.record(tx, 'reset_password', email);
    const holder = await accounts.find(tx, { email });
    const isFree =
      holder === null || holder.id === userId || (await removal.removeUnverified(tx, email, context));
    const account = await accounts.lock(tx, userId);
    if (account === undefined || !(await undoLinks.use(tx, link))) {
      throw new ApiError(authErrors.undoLinkInvalid);
    }
    if (!isFree) throw takenError('token', authErrors.oldEmailTaken);
    await accounts.setEmail(tx, userId, { email, needsReset: true });
    // Else somebody who knows the password could repeat the change until there is no link to undo it.
    await mailSends.forget(tx, 'email_change', email);
    await sessions.endAll(tx, userId);
    await logins.forgetAddresses(tx, userId);
    const changedAt = new Date(link.expiresAt.getTime() - undoDays * 86_400_000);
    await accounts.removeLoginMethods(tx, userId, changedAt);
    const id = await passwordResets.issue(tx, email);
    await mailQueue.add(tx, 'reset_link', { id, language: context.language });
  }

  return { change, undo };
}
