import type { CurrentUser } from '../../../http/authentication.ts';
import { ApiError, retryLater } from '../../../http/errors.ts';
import type { Language } from '../../../http/language.ts';
import type { RequestContext } from '../../../http/request-context.ts';
import type { Tx } from '../../../infrastructure/database/client.ts';
import type { AuthBase } from '../context.ts';
import { authErrors } from '../errors.ts';
import { changeNotice } from '../notices.ts';
import type { WrongCode } from './repository.ts';
import type { EmailConfirmation, PasswordReset, ResetLinkParts } from './schemas.ts';

type Send = (tx: Tx, userId: number | undefined) => Promise<void>;

/** Verification of addresses, and recovery of a password or username. No response reveals whether an address has an account. */
export function createEmailService(auth: AuthBase) {
  const { config, database, mailQueue, passwords, accounts, sessions, logins } = auth;
  const { emailCodes, passwordResets, mailSends } = auth;

  /** Enqueues an email with a code, unless the cooldown or the hourly cap forbids it. That to a verified account has none. */
  async function enqueueCode(tx: Tx, email: string, language: Language) {
    const { allowed, resendAfter } = await mailSends.request(tx, 'email_verify', email);
    if (allowed) {
      const id = await emailCodes.issue(tx, email);
      await mailQueue.add(tx, 'verification_code', { id, language });
    }
    return { accepted: allowed, resend_after: resendAfter };
  }

  async function sendCode(email: string, { language }: RequestContext) {
    const sent = await database.transaction(async (tx) => {
      await accounts.lockNames(tx, email);
      return enqueueCode(tx, email, language);
    });
    return { ...sent, expires_in: Math.floor(config.email.codeTtl) };
  }

  /** Checks a code or a link. It verifies the account of the session only: a stranger may have signed up with the address. */
  async function confirm(given: EmailConfirmation, user: CurrentUser | null, context: RequestContext) {
    const address = 'code' in given ? given.email : await emailCodes.addressOf(given.token);
    // Throwing inside the transaction would roll back the count of attempts.
    const outcome = await database.transaction(async (tx) => {
      if (address !== undefined) await accounts.lockNames(tx, address);
      const result =
        'code' in given
          ? await emailCodes.tryCode(tx, given.email, given.code)
          : await emailCodes.useLink(tx, given.token);
      if (!result.correct) {
        const holder = 'code' in given ? await accounts.find(tx, { email: given.email }) : null;
        return { ...result, userId: holder?.id };
      }
      const isVerified = user !== null && (await accounts.markVerified(tx, user.id, result.email));
      const token = await emailCodes.issueProof(tx, result.email);
      return { ...result, token, userId: isVerified ? user.id : undefined };
    });
    const event = outcome.correct ? 'email_verified' : 'email_code_failed';
    context.logSecurityEvent(event, { id: outcome.userId });
    if (outcome.correct) {
      const expires_in = Math.floor(config.email.verificationTokenTtl);
      return { email: outcome.email, verification_token: outcome.token, expires_in };
    }
    if ('code' in given) throw await codeError(given.email, outcome);
    throw new ApiError(authErrors.emailLinkInvalid, { data: { attempts_left: outcome.attemptsLeft } });
  }

  async function codeError(email: string, { attemptsLeft, exhausted }: WrongCode): Promise<ApiError> {
    if (!exhausted) return new ApiError(authErrors.invalidCode, { data: { attempts_left: attemptsLeft } });
    return retryLater(authErrors.tooManyCodeAttempts, await mailSends.wait(database, 'email_verify', email));
  }

  /** @param send runs where cooldown and cap allow it, for unknown addresses, too, so that the time does not tell them apart */
  async function request(purpose: 'reset_password' | 'find_id', email: string, send: Send) {
    return database.transaction(async (tx) => {
      await accounts.lockNames(tx, email);
      const { allowed, resendAfter } = await mailSends.request(tx, purpose, email);
      const userId = (await accounts.find(tx, { email }))?.id;
      if (allowed) await send(tx, userId);
      return { userId, sent: { accepted: allowed, resend_after: resendAfter } };
    });
  }

  async function requestLink(email: string, context: RequestContext) {
    const { userId, sent } = await request('reset_password', email, async (tx) => {
      const id = await passwordResets.issue(tx, email);
      await mailQueue.add(tx, 'reset_link', { id, language: context.language });
    });
    context.logSecurityEvent('password_reset_requested', { id: userId });
    return sent;
  }

  async function findUsername(email: string, context: RequestContext) {
    const { userId, sent } = await request('find_id', email, (tx, id) =>
      // No account has the id 0.
      mailQueue.add(tx, 'user_id', { user_id: id ?? 0, language: context.language }),
    );
    context.logSecurityEvent('user_id_requested', { id: userId });
    return sent;
  }

  async function openLink(link: ResetLinkParts, tx: Tx = database) {
    const opened = await passwordResets.open(tx, link);
    if (opened === undefined) throw new ApiError(authErrors.resetLinkInvalid);
    return opened;
  }

  /** Sets a new password and ends every session. The first proof of the address removes ways to log in that were added without. */
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
      const recipient = { id, language: context.language };
      await mailQueue.addUnrequested(tx, changeNotice('password_changed', recipient, { ended: 'all' }));
    });
    context.logSecurityEvent('password_reset', { id: account.userId });
  }

  return { enqueueCode, sendCode, confirm, codeError, requestLink, findUsername, openLink, reset };
}
