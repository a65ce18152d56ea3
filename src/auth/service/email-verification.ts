import type { Tx } from '../../database/client.ts';
import { ApiError, retryLater } from '../../http/errors.ts';
import type { Language } from '../../http/language.ts';
import type { RequestContext } from '../../http/request-context.ts';
import type { AuthDependencies } from '../dependencies.ts';
import { authErrors } from '../errors.ts';
import { toMailSent } from '../presenters.ts';
import type { CodeSent, EmailVerification, MailSent } from '../schemas.ts';

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

/** Verification of e-mail addresses by codes. */
export function createEmailVerification(dependencies: AuthDependencies) {
  const { config, database, accounts, emailCodes, mailSends } = dependencies;

  async function send(email: string, { language }: RequestContext): Promise<CodeSent> {
    const sent = await database.runInTransaction((tx) =>
      enqueueVerificationCode(dependencies, tx, email, language),
    );
    return { ...sent, expires_in: Math.floor(config.email.codeTtl) };
  }

  /**
   * Checks a code; an unverified account with the address becomes verified.
   *
   * @throws {ApiError} `invalid_code`, `too_many_attempts`
   */
  async function confirm(email: string, code: string, context: RequestContext): Promise<EmailVerification> {
    // Throwing inside the transaction would roll back the count of attempts.
    const { userId, ...outcome } = await database.runInTransaction(async (tx) => {
      const account = await accounts.findByEmail(tx, email);
      const subject = { userId: account?.id };
      const result = await emailCodes.tryCode(tx, email, code, !account?.isVerified);
      if (!result.correct) return { ...result, ...subject };
      if (account) await accounts.markVerified(tx, email);
      return { correct: true, token: await emailCodes.issueProof(tx, email), ...subject } as const;
    });
    context.audit(outcome.correct ? 'email_verified' : 'email_code_failed', { userId });
    if (outcome.correct) {
      const expiresIn = Math.floor(config.email.verificationTokenTtl);
      return { email, verification_token: outcome.token, expires_in: expiresIn };
    }
    if (outcome.exhausted) {
      const seconds = await mailSends.wait(database, 'email_verify', email);
      throw retryLater(authErrors.tooManyCodeAttempts, seconds);
    }
    throw new ApiError(authErrors.invalidCode, { data: { attempts_left: outcome.attemptsLeft } });
  }

  return { send, confirm };
}
