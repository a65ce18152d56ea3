import type { Tx } from '../../database/client.ts';
import { isUniqueViolation } from '../../database/errors.ts';
import { type CurrentUser, tokenNotValid } from '../../http/authentication.ts';
import { ApiError, invalidFields } from '../../http/errors.ts';
import { problems } from '../../http/field-errors.ts';
import type { RequestContext } from '../../http/request-context.ts';
import type { AuthDependencies } from '../dependencies.ts';
import { authErrors } from '../errors.ts';
import { emailChangedNotice } from '../mails.ts';
import { toUser } from '../presenters.ts';
import type { UserRow } from '../repository/accounts.ts';
import type { CodeResult } from '../repository/email-codes.ts';
import type { EmailChange, User } from '../schemas.ts';
import { codeRefused } from './email-verification.ts';
import { verifyOwnPassword } from './password-attempts.ts';
import { takenError } from './taken-error.ts';

const presentAddress = {
  field: 'new_email',
  code: 'duplicate',
  text: {
    ko: '지금 사용하고 있는 이메일입니다. 다른 이메일을 입력해 주세요.',
    en: 'This is the present address of the account.',
  },
} as const;

/** What came of an attempt: the account has the address, the code was wrong, or the account changed since it was read. */
type Attempt = { user: UserRow } | Extract<CodeResult, { correct: false }> | 'account changed';

/** Changes the e-mail address of an account to one that the user has proven with a mailed code. */
export function createEmailChange(dependencies: AuthDependencies) {
  const { database, accounts, emailChanges, emailCodes, passwordResets, sessions, mailQueue } = dependencies;

  /**
   * Changes the address; every other session ends, and the old address gets a notice if it was verified.
   *
   * @throws {ApiError} `validation_error`, `invalid_credentials`, `forbidden`, `invalid_code`, `verification_token_invalid`,
   * `too_many_attempts`, `email_taken`
   */
  return async function changeEmail(
    user: CurrentUser,
    input: EmailChange,
    context: RequestContext,
  ): Promise<User> {
    const { new_email: newEmail } = input;
    if (newEmail === user.email) throw invalidFields([presentAddress]);
    if (!input.code && !input.verification_token)
      throw invalidFields([{ field: 'code', ...problems.required }]);
    const passwordHash = await verifyOwnPassword(dependencies, user, input.password, context);
    const attempt = await database
      .runInTransaction((tx) => change(tx, { user, passwordHash, ...input }, context))
      .catch((error: unknown) => {
        // The whole transaction was rolled back, so the code still works.
        throw isUniqueViolation(error) ? takenError('new_email', authErrors.newEmailTaken) : error;
      });
    const subject = { userId: user.id, sessionId: user.sessionId };
    if (attempt === 'account changed') {
      const present = await sessions.findUser({ userId: user.id, sessionId: user.sessionId });
      if (present === undefined) throw tokenNotValid('access', 'revoked', context.language);
      return changeEmail(present, input, context);
    }
    if ('correct' in attempt) {
      context.audit('email_code_failed', subject);
      throw await codeRefused(dependencies, newEmail, attempt);
    }
    context.audit('email_changed', subject);
    return toUser(attempt.user);
  };

  /** Codes and links are locked before users, as everywhere; those of both addresses at once, because two accounts may swap. */
  async function change(
    tx: Tx,
    {
      user,
      passwordHash,
      new_email: newEmail,
      code = '',
      verification_token: proof,
    }: EmailChange & { user: CurrentUser; passwordHash: string },
    { language }: RequestContext,
  ): Promise<Attempt> {
    await emailCodes.lock(tx, [user.email, newEmail]);
    await passwordResets.lock(tx, user.email);
    const account = await emailChanges.lockAccount(tx, user.id);
    if (account?.email !== user.email || account.passwordHash !== passwordHash) return 'account changed';
    if (proof !== undefined) {
      const isProven = await emailCodes.useProof(tx, newEmail, proof);
      if (!isProven) throw new ApiError(authErrors.verificationTokenInvalid);
    } else {
      const holder = await accounts.findByEmail(tx, newEmail);
      const result = await emailCodes.tryCode(tx, newEmail, code, !holder?.isVerified);
      if (!result.correct) return result;
    }
    const oldEmail = account.email;
    if (account.isVerified) {
      const id = await emailChanges.issueUndo(tx, user.id, { oldEmail, newEmail });
      // While the account still has the old address, so that the notice counts for that one.
      await mailQueue.addUnrequested(tx, emailChangedNotice(user.id, id, language));
      await emailCodes.revoke(tx, oldEmail);
    }
    await passwordResets.revoke(tx, oldEmail);
    const changed = await emailChanges.setEmail(tx, user.id, newEmail);
    if (changed === undefined) throw new Error('a locked account is gone');
    await sessions.endOthers(tx, { userId: user.id, sessionId: user.sessionId });
    return { user: changed };
  }
}
