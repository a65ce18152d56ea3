import type { FastifyRequest } from 'fastify';
import type { Connection } from '../../database/client.ts';
import { audit } from '../../http/audit.ts';
import { ApiError, retryLater } from '../../http/errors.ts';
import type { Language } from '../../http/language.ts';
import type { AuthDependencies } from '../dependencies.ts';
import { authErrors } from '../errors.ts';

/**
 * Mails a code, unless the address had one a moment ago. Nothing here depends on whether the address has an account: the mail
 * itself says something else to an address that has a verified one.
 *
 * @returns seconds until another mail may go out
 */
export async function sendVerificationCode(
  { mailSends, emailCodes, mailQueue }: Pick<AuthDependencies, 'mailSends' | 'emailCodes' | 'mailQueue'>,
  transaction: Connection,
  email: string,
  language: Language,
): Promise<number> {
  const { allowed, resendAfter } = await mailSends.request(transaction, 'email_verify', email);
  if (allowed) {
    const id = await emailCodes.issue(transaction, email);
    await mailQueue.add(transaction, 'verification_code', { id, language });
  }
  return resendAfter;
}

/** Proves that an e-mail address is read by who gives it. */
export function createEmailVerification(dependencies: AuthDependencies) {
  const { config, database, accounts, emailCodes, mailSends } = dependencies;

  async function send(email: string, language: Language) {
    const resendAfter = await database.transaction((tx) =>
      sendVerificationCode(dependencies, tx, email, language),
    );
    return { expires_in: Math.floor(config.email.codeTtl), resend_after: resendAfter };
  }

  /**
   * Checks a code; an unverified account with the address becomes verified.
   *
   * @throws {ApiError} `invalid_code`, `too_many_attempts`
   */
  async function confirm(email: string, code: string, request: FastifyRequest) {
    // A refused try must stay counted, so the refusal is thrown after the transaction.
    const { userId, ...outcome } = await database.transaction(async (tx) => {
      const account = await accounts.findByEmail(tx, email);
      const who = { userId: account?.id };
      const result = await emailCodes.tryCode(tx, email, code, !account?.is_verified);
      if (!result.correct) return { ...result, ...who };
      if (account) await accounts.markVerified(tx, email);
      return { correct: true, token: await emailCodes.issueProof(tx, email), ...who } as const;
    });
    audit(request, outcome.correct ? 'email_verified' : 'email_code_failed', { userId });
    if (outcome.correct) {
      const expiresIn = Math.floor(config.email.verificationTokenTtl);
      return { email, verification_token: outcome.token, expires_in: expiresIn };
    }
    if (outcome.exhausted) {
      throw retryLater(
        authErrors.tooManyCodeAttempts,
        await mailSends.wait(database.client, 'email_verify', email),
      );
    }
    throw new ApiError(authErrors.invalidCode, { data: { attempts_left: outcome.attemptsLeft } });
  }

  return { send, confirm };
}
