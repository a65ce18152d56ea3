import type { Tx } from '../../database/client.ts';
import type { CurrentUser } from '../../http/authentication.ts';
import { ApiError, retryLater } from '../../http/errors.ts';
import type { Language } from '../../http/language.ts';
import type { RequestContext } from '../../http/request-context.ts';
import type { AuthDependencies } from '../dependencies.ts';
import { authErrors } from '../errors.ts';
import { toMailSent } from '../presenters.ts';
import type { CodeResult } from '../repository/email-codes.ts';
import type { CodeSent, EmailVerification, MailSent } from '../schemas.ts';

/** Whom a code is for. */
interface CodeRecipient {
  email: string;
  /** The account whose sign-up mails the code, which verifies that account. */
  signedUp?: number;
  /** The account of the session that asks for the code. */
  askedBy?: number;
}

/**
 * Enqueues a mail with a code, unless the cooldown or the hourly cap forbids it. The answer never depends on whether the
 * address has an account; only the mail to an address with a verified account differs.
 *
 * @returns the answer to the request
 */
export async function enqueueVerificationCode(
  { mailSends, emailCodes, mailQueue }: AuthDependencies,
  tx: Tx,
  { email, signedUp, askedBy }: CodeRecipient,
  language: Language,
): Promise<MailSent> {
  const permission = await mailSends.request(tx, 'email_verify', email);
  if (permission.allowed) {
    const id = await emailCodes.issue(tx, email, signedUp ?? null);
    const asked = askedBy === undefined ? {} : { user_id: askedBy };
    await mailQueue.add(tx, 'verification_code', { id, language, ...asked });
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

/** Verification of e-mail addresses by codes. */
export function createEmailVerification(dependencies: AuthDependencies) {
  const { config, database, accounts, emailCodes } = dependencies;

  /** @param user whose session asks for the code */
  async function send(
    email: string,
    user: CurrentUser | null,
    { language }: RequestContext,
  ): Promise<CodeSent> {
    const recipient = user?.email === email ? { email, askedBy: user.id } : { email };
    const sent = await database.runInTransaction((tx) =>
      enqueueVerificationCode(dependencies, tx, recipient, language),
    );
    return { ...sent, expires_in: Math.floor(config.email.codeTtl) };
  }

  /**
   * Checks a code. It verifies the account whose sign-up mailed it; a code that was asked for verifies the user's account, if
   * that has the address. It verifies no other account, because a stranger may have signed up with the address.
   *
   * @param user of the session that sends the code
   * @throws {ApiError} `invalid_code`, `too_many_attempts`
   */
  async function confirm(
    email: string,
    code: string,
    user: CurrentUser | null,
    context: RequestContext,
  ): Promise<EmailVerification> {
    // Throwing inside the transaction would roll back the count of attempts.
    const { userId, ...outcome } = await database.runInTransaction(async (tx) => {
      const account = await accounts.findByEmail(tx, email);
      const result = await emailCodes.tryCode(tx, email, code, () => !account?.isVerified);
      if (!result.correct) return { ...result, userId: account?.id };
      const candidate = result.userId ?? user?.id;
      const isVerified = candidate !== undefined && (await accounts.markVerified(tx, candidate, email));
      const token = await emailCodes.issueProof(tx, email);
      return { correct: true, token, userId: isVerified ? candidate : undefined } as const;
    });
    context.audit(outcome.correct ? 'email_verified' : 'email_code_failed', { userId });
    if (outcome.correct) {
      const expiresIn = Math.floor(config.email.verificationTokenTtl);
      return { email, verification_token: outcome.token, expires_in: expiresIn };
    }
    throw await codeRefused(dependencies, email, outcome);
  }

  return { send, confirm };
}
