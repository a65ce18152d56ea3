import type { FastifyRequest } from 'fastify';
import type { Connection } from '../../database/client.ts';
import { audit } from '../../http/audit.ts';
import { ApiError, invalidFields } from '../../http/errors.ts';
import type { Language } from '../../http/language.ts';
import type { AuthDependencies } from '../dependencies.ts';
import { authErrors } from '../errors.ts';
import { passwordProblems } from '../passwords.ts';
import type { ResetLinkParts } from '../repository/password-resets.ts';

/** Ways back in for who forgot the password or the username. What comes back tells nothing of whether there is an account. */
export function createPasswordReset(dependencies: AuthDependencies) {
  const {
    config,
    database,
    accounts,
    sessions,
    passwords,
    passwordResets,
    mailSends,
    mailQueue,
    loginFailures,
  } = dependencies;

  /** Mails a link to the address, if it has an account. @returns seconds until another mail may go out */
  async function requestLink(email: string, request: FastifyRequest): Promise<number> {
    const { language } = request;
    const { resendAfter, userId } = await database.transaction(async (tx) => {
      const { allowed, resendAfter } = await mailSends.request(tx, 'reset_password', email);
      if (allowed) {
        const id = await passwordResets.issue(tx, email);
        await mailQueue.add(tx, 'reset_link', { id, language });
      }
      return { resendAfter, userId: (await accounts.findByEmail(tx, email))?.id };
    });
    audit(request, 'password_reset_requested', { userId });
    return resendAfter;
  }

  /** @returns when the link stops to work @throws {ApiError} `reset_link_invalid` */
  async function validate(link: ResetLinkParts): Promise<Date> {
    return (await open(database.client, link)).expiresAt;
  }

  /**
   * Sets a new password and ends every session. Of parallel uses of one link, one succeeds.
   *
   * @throws {ApiError} `reset_link_invalid`, `validation_error`
   */
  async function confirm(link: ResetLinkParts, newPassword: string, request: FastifyRequest): Promise<void> {
    const account = await open(database.client, link);
    const problems = passwordProblems('new_password', newPassword, account, config.password.minLength);
    if (Object.keys(problems).length > 0) throw invalidFields(problems);
    const passwordHash = await passwords.hash(newPassword);
    await database.transaction(async (tx) => {
      const { userId, email } = await open(tx, link);
      await passwordResets.revoke(tx, email);
      // The account may have been deleted since the link was opened.
      if (!(await accounts.replacePassword(tx, userId, passwordHash))) {
        throw new ApiError(authErrors.resetLinkInvalid);
      }
      await accounts.markVerified(tx, email);
      await sessions.endAll(tx, userId);
      const addresses = await accounts.knownAddresses(tx, userId);
      const keys = [undefined, ...addresses].map((address) => loginFailures.keyOf({ userId }, address));
      await loginFailures.clear(tx, keys);
      await queuePasswordChanged(dependencies, tx, userId, request.language);
    });
    audit(request, 'password_reset', { userId: account.userId });
  }

  async function open(connection: Connection, link: ResetLinkParts) {
    const opened = await passwordResets.open(connection, link);
    if (opened === undefined) throw new ApiError(authErrors.resetLinkInvalid);
    return opened;
  }

  /** Mails the username to the address, if it has an account. @returns seconds until another mail may go out */
  async function findId(email: string, request: FastifyRequest): Promise<number> {
    const { language } = request;
    const { resendAfter, userId } = await database.transaction(async (tx) => {
      const { allowed, resendAfter } = await mailSends.request(tx, 'find_id', email);
      if (allowed) await mailQueue.add(tx, 'user_id', { email, language });
      return { resendAfter, userId: (await accounts.findByEmail(tx, email))?.id };
    });
    audit(request, 'user_id_requested', { userId });
    return resendAfter;
  }

  return { requestLink, validate, confirm, findId };
}

/** Tells the owner that the password is another one now. */
export async function queuePasswordChanged(
  { mailQueue }: Pick<AuthDependencies, 'mailQueue'>,
  transaction: Connection,
  userId: number,
  language: Language,
): Promise<void> {
  await mailQueue.add(transaction, 'password_changed', { user_id: userId, changed_at: Date.now(), language });
}
