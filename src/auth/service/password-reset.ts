import type { Connection } from '../../database/client.ts';
import { ApiError } from '../../http/errors.ts';
import { isUuid } from '../../http/path-ids.ts';
import type { RequestContext } from '../../http/request-context.ts';
import type { AuthDependencies } from '../dependencies.ts';
import { authErrors } from '../errors.ts';
import { passwordChangedNotice } from '../mails.ts';
import { checkNewPassword } from '../passwords.ts';
import { toMailSent } from '../presenters.ts';
import type { ResetLinkParts, ValidLink } from '../repository/password-resets.ts';
import type { MailSent } from '../schemas.ts';

/** An id that no account has. */
const unknownUser = 0;

/** Recovery of a forgotten password or username. No answer reveals whether an address has an account. */
export function createPasswordReset(dependencies: AuthDependencies) {
  const { config, database, accounts, sessions, passwords, loginFailures } = dependencies;
  const { passwordResets, mailSends, mailQueue } = dependencies;

  /** Enqueues a mail with a link if the address has an account; the answer is the same for every address. */
  async function requestLink(email: string, context: RequestContext): Promise<MailSent> {
    const { userId, ...sent } = await database.runInTransaction(async (tx) => {
      const permission = await mailSends.request(tx, 'reset_password', email);
      if (permission.allowed) {
        const id = await passwordResets.issue(tx, email);
        await mailQueue.add(tx, 'reset_link', { id, language: context.language });
      }
      return { ...permission, userId: (await accounts.findByEmail(tx, email))?.id };
    });
    context.audit('password_reset_requested', { userId });
    return toMailSent(sent);
  }

  /** @returns when the link expires @throws {ApiError} `reset_link_invalid` */
  async function validate(link: ResetLinkParts): Promise<Date> {
    return (await openLink(database, link)).expiresAt;
  }

  /**
   * Sets a new password and ends every session. Of concurrent uses of one link, one succeeds.
   *
   * @throws {ApiError} `reset_link_invalid`, `validation_error`
   */
  async function confirm(link: ResetLinkParts, newPassword: string, context: RequestContext): Promise<void> {
    const account = await openLink(database, link);
    checkNewPassword('new_password', newPassword, account, config.password.minLength);
    const passwordHash = await passwords.hash(newPassword, context);
    await database.runInTransaction(async (tx) => {
      const { userId, username, email } = await openLink(tx, link);
      await passwordResets.revoke(tx, email);
      // The account may have been deleted since the link was opened.
      if (!(await accounts.replacePassword(tx, userId, passwordHash))) {
        throw new ApiError(authErrors.resetLinkInvalid);
      }
      await accounts.markVerified(tx, userId, email);
      await sessions.endAll(tx, userId);
      await accounts.forgetAddresses(tx, userId);
      await loginFailures.clearNames(tx, [username, email]);
      await mailQueue.addUnrequested(tx, passwordChangedNotice(userId, context.language));
    });
    context.audit('password_reset', { userId: account.userId });
  }

  async function openLink(connection: Connection, link: ResetLinkParts): Promise<ValidLink> {
    const opened = isUuid(link.uid) ? await passwordResets.open(connection, link) : undefined;
    if (opened === undefined) throw new ApiError(authErrors.resetLinkInvalid);
    return opened;
  }

  /** Enqueues a mail with the username if the address has an account; the answer is the same for every address. */
  async function findId(email: string, context: RequestContext): Promise<MailSent> {
    const { userId, ...sent } = await database.runInTransaction(async (tx) => {
      const permission = await mailSends.request(tx, 'find_id', email);
      const userId = (await accounts.findByEmail(tx, email))?.id;
      // Queued for an unknown address, too, so that the time does not reveal which are known.
      const payload = { user_id: userId ?? unknownUser, language: context.language };
      if (permission.allowed) await mailQueue.add(tx, 'user_id', payload);
      return { ...permission, userId };
    });
    context.audit('user_id_requested', { userId });
    return toMailSent(sent);
  }

  return { requestLink, validate, confirm, findId };
}
