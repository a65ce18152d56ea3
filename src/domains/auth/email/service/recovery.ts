import { ApiError } from '../../../../http/errors.ts';
import type { RequestContext } from '../../../../http/request-context.ts';
import type { Tx } from '../../../../infrastructure/database/client.ts';
import type { AuthContext } from '../../context.ts';
import { authErrors } from '../../errors.ts';
import { passwordChangedNotice } from '../../notices.ts';
import type { MailSent, PasswordReset, ResetLinkParts } from '../schemas.ts';

export type RecoveryService = ReturnType<typeof createRecovery>;

/** Recovery of a forgotten password or username. No response reveals whether an address has an account. */
export function createRecovery(auth: AuthContext) {
  const { database, mailQueue, passwords, accounts, sessions, logins, passwordResets, mailSends } = auth;

  /**
   * Sends an email to an address if it has an account; the response is the same for every address.
   *
   * @param send runs where cooldown and cap allow it, for unknown addresses, too, so that the time does not reveal which are known
   */
  async function request(
    purpose: 'reset_password' | 'find_id',
    email: string,
    send: (tx: Tx, userId: number | undefined) => Promise<void>,
  ): Promise<{ userId: number | undefined; sent: MailSent }> {
    return database.transaction(async (tx) => {
      await accounts.lockNames(tx, email);
      const { allowed, resendAfter } = await mailSends.request(tx, purpose, email);
      const userId = (await accounts.find(tx, { email }))?.id;
      if (allowed) await send(tx, userId);
      return { userId, sent: { accepted: allowed, resend_after: resendAfter } };
    });
  }

  /** Mails a link to reset the password. */
  async function requestLink(email: string, context: RequestContext): Promise<MailSent> {
    const { userId, sent } = await request('reset_password', email, async (tx) => {
      const id = await passwordResets.issue(tx, email);
      await mailQueue.add(tx, 'reset_link', { id, language: context.language });
    });
    context.logSecurityEvent('password_reset_requested', { id: userId });
    return sent;
  }

  /** Mails the username. */
  async function findUsername(email: string, context: RequestContext): Promise<MailSent> {
    const { userId, sent } = await request('find_id', email, (tx, id) =>
      // No account has the id 0.
      mailQueue.add(tx, 'user_id', { user_id: id ?? 0, language: context.language }),
    );
    context.logSecurityEvent('user_id_requested', { id: userId });
    return sent;
  }

  /** The account of a link. @throws {ApiError} `reset_link_invalid` */
  async function openLink(link: ResetLinkParts, tx: Tx = database) {
    const opened = await passwordResets.open(tx, link);
    if (opened === undefined) throw new ApiError(authErrors.resetLinkInvalid);
    return opened;
  }

  /**
   * Sets a new password and ends every session. The first proof of the address removes the ways to log in that were added without
   * one. Of concurrent uses of one link, one succeeds.
   *
   * @throws {ApiError} `reset_link_invalid`, `validation_error`
   */
  async function reset({ new_password: password, ...link }: PasswordReset, context: RequestContext) {
    const account = await openLink(link);
    passwords.checkNew({ field: 'new_password', password, account });
    const passwordHash = await passwords.hash(password, context);
    await database.transaction(async (tx) => {
      await accounts.lockNames(tx, account.email);
      const { userId: id, username, email } = await openLink(link, tx);
      await passwordResets.revoke(tx, email);
      await logins.clearFailures(tx, [username, email]);
      // Ways to log in that were added before were added without a proof of the address.
      if (await accounts.markVerified(tx, id, email)) await accounts.removeLoginMethods(tx, id);
      // Since the link was opened, the account may have been deleted or have got its old address back.
      if (!(await accounts.resetPassword(tx, { id, email, passwordHash }))) {
        throw new ApiError(authErrors.resetLinkInvalid);
      }
      await sessions.endAll(tx, id);
      await logins.forgetAddresses(tx, id);
      await mailQueue.addUnrequested(tx, passwordChangedNotice(id, context.language, 'all'));
    });
    context.logSecurityEvent('password_reset', { id: account.userId });
  }

  return { requestLink, findUsername, openLink, reset };
}
