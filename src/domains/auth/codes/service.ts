import type { CurrentUser } from '../../../http/authentication.ts';
import { ApiError, retryLater } from '../../../http/errors.ts';
import type { Language } from '../../../http/language.ts';
import type { RequestContext } from '../../../http/request-context.ts';
import type { Config } from '../../../infrastructure/config/config.ts';
import type { Database, Tx } from '../../../infrastructure/database/client.ts';
import type { MailQueue } from '../../../infrastructure/mail/queue.ts';
import type { AuthRepository } from '../context.ts';
import { authErrors } from '../errors.ts';
import { passwordChangedNotice } from '../mails.ts';
import type { Passwords } from '../passwords.ts';
import type { CodeSent, EmailConfirmation, MailSent, ResetLinkParts } from '../schemas.ts';
import type { WrongCode } from './repository.ts';

export type EmailVerification = ReturnType<typeof createEmailVerification>;

/** Verification of email addresses by codes and links. */
export function createEmailVerification(
  { codeTtl, verificationTokenTtl }: Config['email'],
  database: Database,
  mailQueue: MailQueue,
  { accounts, emailCodes, mailSends }: AuthRepository,
) {
  /**
   * Enqueues an email with a code, unless the cooldown or the hourly cap forbids it. The response never depends on whether the
   * address has an account; only the email to an address with a verified account differs.
   */
  async function enqueueCode(tx: Tx, email: string, language: Language): Promise<MailSent> {
    const permission = await mailSends.request(tx, 'email_verify', email);
    if (permission.allowed) {
      const id = await emailCodes.issue(tx, email);
      await mailQueue.add(tx, 'verification_code', { id, language });
    }
    return toMailSent(permission);
  }

  async function send(email: string, { language }: RequestContext): Promise<CodeSent> {
    const sent = await database.transaction(async (tx) => {
      await accounts.lockNames(tx, email);
      return enqueueCode(tx, email, language);
    });
    return { ...sent, expires_in: Math.floor(codeTtl) };
  }

  /**
   * Checks a code or the token of its link. It verifies the account of the session that sends it, if that has the address, and
   * no other one: a stranger may have signed up with the address.
   *
   * @throws {ApiError} `invalid_code`, `too_many_attempts`
   */
  async function confirm(given: EmailConfirmation, user: CurrentUser | null, context: RequestContext) {
    const address = 'code' in given ? given.email : await emailCodes.addressOf(given.token);
    // Throwing inside the transaction would roll back the count of attempts.
    const outcome = await database.transaction(async (tx) => {
      if (address !== undefined) await accounts.lockNames(tx, address);
      const holder = 'code' in given ? await accounts.find(tx, { email: given.email }) : null;
      const result =
        'code' in given
          ? await emailCodes.tryCode(tx, given.email, given.code, !holder?.isVerified)
          : await emailCodes.useLink(tx, given.token);
      if (!result.correct) return { ...result, userId: holder?.id };
      const isVerified = user !== null && (await accounts.markVerified(tx, user.id, result.email));
      const token = await emailCodes.issueProof(tx, result.email);
      return { ...result, token, userId: isVerified ? user.id : undefined };
    });
    const { correct, userId } = outcome;
    context.logSecurityEvent(correct ? 'email_verified' : 'email_code_failed', { userId });
    if (outcome.correct) {
      const expires_in = Math.floor(verificationTokenTtl);
      return { email: outcome.email, verification_token: outcome.token, expires_in };
    }
    if ('code' in given) throw await codeError(given.email, outcome);
    throw new ApiError(authErrors.emailLinkInvalid, { data: { attempts_left: outcome.attemptsLeft } });
  }

  /** The error of a wrong code: `invalid_code`, `too_many_attempts`. */
  async function codeError(email: string, { attemptsLeft, exhausted }: WrongCode): Promise<ApiError> {
    if (!exhausted) return new ApiError(authErrors.invalidCode, { data: { attempts_left: attemptsLeft } });
    return retryLater(authErrors.tooManyCodeAttempts, await mailSends.wait(database, 'email_verify', email));
  }

  return { enqueueCode, send, confirm, codeError };
}

export type Recovery = ReturnType<typeof createRecovery>;

/** Recovery of a forgotten password or username. No response reveals whether an address has an account. */
export function createRecovery(
  database: Database,
  mailQueue: MailQueue,
  { accounts, sessions, passwordResets, logins, loginFailures, mailSends }: AuthRepository,
  passwords: Passwords,
) {
  /** Enqueues an email with a link if the address has an account; the response is the same for every address. */
  async function requestLink(email: string, context: RequestContext): Promise<MailSent> {
    const { userId, ...sent } = await database.transaction(async (tx) => {
      await accounts.lockNames(tx, email);
      const permission = await mailSends.request(tx, 'reset_password', email);
      if (permission.allowed) {
        const id = await passwordResets.issue(tx, email);
        await mailQueue.add(tx, 'reset_link', { id, language: context.language });
      }
      return { ...permission, userId: (await accounts.find(tx, { email }))?.id };
    });
    context.logSecurityEvent('password_reset_requested', { userId });
    return toMailSent(sent);
  }

  /** @returns when the link expires @throws {ApiError} `reset_link_invalid` */
  const validate = async (link: ResetLinkParts) => (await openLink(database, link)).expiresAt;

  /**
   * Sets a new password and ends every session. The first proof of the address removes the ways to log in that were added without
   * one. Of concurrent uses of one link, one succeeds.
   *
   * @throws {ApiError} `reset_link_invalid`, `validation_error`
   */
  async function confirm(link: ResetLinkParts, newPassword: string, context: RequestContext): Promise<void> {
    const account = await openLink(database, link);
    passwords.checkNew('new_password', newPassword, account);
    const passwordHash = await passwords.hash(newPassword, context);
    await database.transaction(async (tx) => {
      await accounts.lockNames(tx, account.email);
      const { userId, username, email } = await openLink(tx, link);
      await passwordResets.revoke(tx, email);
      await loginFailures.clear(tx, [username, email]);
      // Ways to log in that were added before were added without a proof of the address.
      if (await accounts.markVerified(tx, userId, email)) await accounts.removeLoginMethods(tx, userId);
      // Since the link was opened, the account may have been deleted or have got its old address back.
      if (!(await accounts.resetPassword(tx, userId, email, passwordHash))) {
        throw new ApiError(authErrors.resetLinkInvalid);
      }
      await sessions.endAll(tx, userId);
      await logins.forgetAddresses(tx, userId);
      await mailQueue.addUnrequested(tx, passwordChangedNotice(userId, context.language, 'all'));
    });
    context.logSecurityEvent('password_reset', { userId: account.userId });
  }

  async function openLink(tx: Tx, link: ResetLinkParts) {
    const opened = await passwordResets.open(tx, link);
    if (opened === undefined) throw new ApiError(authErrors.resetLinkInvalid);
    return opened;
  }

  /** Enqueues an email with the username if the address has an account; the response is the same for every address. */
  async function findId(email: string, context: RequestContext): Promise<MailSent> {
    const { userId, ...sent } = await database.transaction(async (tx) => {
      await accounts.lockNames(tx, email);
      const permission = await mailSends.request(tx, 'find_id', email);
      const userId = (await accounts.find(tx, { email }))?.id;
      // Queued for an unknown address, too, so that the time does not reveal which are known. No account has the id 0.
      const payload = { user_id: userId ?? 0, language: context.language };
      if (permission.allowed) await mailQueue.add(tx, 'user_id', payload);
      return { ...permission, userId };
    });
    context.logSecurityEvent('user_id_requested', { userId });
    return toMailSent(sent);
  }

  return { requestLink, validate, confirm, findId };
}

/** The response to a request for an email. */
function toMailSent({ allowed, resendAfter }: { allowed: boolean; resendAfter: number }): MailSent {
  return { accepted: allowed, resend_after: resendAfter };
}
