import type { Tx } from '../../database/client.ts';
import type { CurrentUser } from '../../http/authentication.ts';
import { ApiError, retryLater } from '../../http/errors.ts';
import type { Language } from '../../http/language.ts';
import type { RequestContext } from '../../http/request-context.ts';
import type { AuthDependencies } from '../dependencies.ts';
import { authErrors } from '../errors.ts';
import { toMailSent } from '../presenters.ts';
import type { CodeResult } from '../repository/email-codes.ts';
import type { CodeSent, EmailConfirmation, EmailVerification, MailSent } from '../schemas.ts';

/**
 * Enqueues a mail with a code, unless the cooldown or the hourly cap forbids it. The answer never depends on whether the
 * address has an account; only the mail to an address with a verified account differs.
 *
 * @returns the answer to the request
 */
export async function enqueueVerificationCode(
  { mailSends, emailCodes, mailQueue }: AuthDependencies,
  tx: Tx,
  email: string,
  language: Language,
): Promise<MailSent> {
  const permission = await mailSends.request(tx, 'email_verify', email);
  if (permission.allowed) {
    const id = await emailCodes.issue(tx, email);
    await mailQueue.add(tx, 'verification_code', { id, language });
  }
  return toMailSent(permission);
}

/** The failure of a code that was tried: `invalid_code`, `too_many_attempts`. */
export async function codeRefused(
  { database, mailSends }: AuthDependencies,
  email: string,
  { attemptsLeft, exhausted }: Extract<CodeResult, { correct: false }>,
): Promise<ApiError> {
  if (!exhausted) return new ApiError(authErrors.invalidCode, { data: { attempts_left: attemptsLeft } });
  return retryLater(authErrors.tooManyCodeAttempts, await mailSends.wait(database, 'email_verify', email));
}

/** Verification of e-mail addresses by codes and links. */
export function createEmailVerification(dependencies: AuthDependencies) {
  const { config, database, accounts, emailCodes } = dependencies;

  async function send(email: string, { language }: RequestContext): Promise<CodeSent> {
    const sent = await database.runInTransaction((tx) =>
      enqueueVerificationCode(dependencies, tx, email, language),
    );
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
    // Throwing inside the transaction would roll back the count of attempts.
    const { userId, ...outcome } = await database.runInTransaction(async (tx) => {
      const { userId, ...result } = await attempt(tx, given);
      if (!result.correct) return { ...result, userId };
      const isVerified = user !== null && (await accounts.markVerified(tx, user.id, result.email));
      const token = await emailCodes.issueProof(tx, result.email);
      return { ...result, token, userId: isVerified ? user.id : undefined };
    });
    context.audit(outcome.correct ? 'email_verified' : 'email_code_failed', { userId });
    if (outcome.correct) {
      const expiresIn = Math.floor(config.email.verificationTokenTtl);
      return { email: outcome.email, verification_token: outcome.token, expires_in: expiresIn };
    }
    if ('code' in given) throw await codeRefused(dependencies, given.email, outcome);
    throw new ApiError(authErrors.emailLinkInvalid, { data: { attempts_left: outcome.attemptsLeft } });
  }

  /** @returns the result, and the account of the address, for the log */
  async function attempt(
    tx: Tx,
    given: EmailConfirmation,
  ): Promise<CodeResult & { userId?: number | undefined }> {
    if ('token' in given) return emailCodes.useLink(tx, given.token);
    const account = await accounts.findByEmail(tx, given.email);
    const result = await emailCodes.tryCode(tx, given.email, given.code, !account?.isVerified);
    return { ...result, userId: account?.id };
  }

  return { send, confirm };
}
