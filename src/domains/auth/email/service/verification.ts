import type { CurrentUser } from '../../../../http/authentication.ts';
import { ApiError, retryLater } from '../../../../http/errors.ts';
import type { Language } from '../../../../http/language.ts';
import type { RequestContext } from '../../../../http/request-context.ts';
import type { Tx } from '../../../../infrastructure/database/client.ts';
import type { AuthBase } from '../../context.ts';
import { authErrors } from '../../errors.ts';
import type { WrongCode } from '../repository.ts';
import type { CodeSent, EmailConfirmation, EmailVerification, MailSent } from '../schemas.ts';

export type EmailCodes = ReturnType<typeof createEmailCodes>;

/** Verification of email addresses by codes and links. */
export function createEmailCodes({ config, database, mailQueue, accounts, emailCodes, mailSends }: AuthBase) {
  /**
   * Enqueues an email with a code, unless the cooldown or the hourly cap forbids it. The response never depends on whether the
   * address has an account; only the email to an address with a verified account differs.
   */
  async function enqueue(tx: Tx, email: string, language: Language): Promise<MailSent> {
    const { allowed, resendAfter } = await mailSends.request(tx, 'email_verify', email);
    if (allowed) {
      const id = await emailCodes.issue(tx, email);
      await mailQueue.add(tx, 'verification_code', { id, language });
    }
    return { accepted: allowed, resend_after: resendAfter };
  }

  async function send(email: string, { language }: RequestContext): Promise<CodeSent> {
    const sent = await database.transaction(async (tx) => {
      await accounts.lockNames(tx, email);
      return enqueue(tx, email, language);
    });
    return { ...sent, expires_in: Math.floor(config.email.codeTtl) };
  }

  /**
   * Checks a code or the token of its link. It verifies the account of the session that sends it, if that has the address, and
   * no other one: a stranger may have signed up with the address.
   *
   * @throws {ApiError} `invalid_code`, `too_many_attempts`
   */
  async function confirm(
    given: EmailConfirmation,
    user: CurrentUser | null,
    context: RequestContext,
  ): Promise<EmailVerification> {
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

  /** The error of a wrong code: `invalid_code`, `too_many_attempts`. */
  async function codeError(email: string, { attemptsLeft, exhausted }: WrongCode): Promise<ApiError> {
    if (!exhausted) return new ApiError(authErrors.invalidCode, { data: { attempts_left: attemptsLeft } });
    return retryLater(authErrors.tooManyCodeAttempts, await mailSends.wait(database, 'email_verify', email));
  }

  return { enqueue, send, confirm, codeError };
}
