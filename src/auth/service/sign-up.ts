import type { Tx } from '../../database/client.ts';
import { ApiError, invalidFields } from '../../http/errors.ts';
import type { FieldError } from '../../http/field-errors.ts';
import type { IdempotencyKey, Outcome } from '../../http/idempotency.ts';
import type { RequestContext } from '../../http/request-context.ts';
import type { AuthDependencies } from '../dependencies.ts';
import { authErrors } from '../errors.ts';
import { newPasswordErrors } from '../passwords.ts';
import { toUser } from '../presenters.ts';
import type { UserRow } from '../repository/accounts.ts';
import type { NewUser, User } from '../schemas.ts';
import { removeUnverified } from './account-removal.ts';
import { enqueueVerificationCode } from './email-verification.ts';
import { takenError } from './taken-error.ts';

const tokenRequired: FieldError = {
  field: 'verification_token',
  code: 'required',
  text: { ko: '이메일을 먼저 인증해 주세요.', en: 'Please verify the e-mail address first.' },
};

/**
 * Creates accounts, and mails a code where the e-mail address is not verified yet. A sign-up that proves its address replaces
 * an unverified account without a store that has the address, which a stranger may have signed up with.
 */
export function createSignUp(dependencies: AuthDependencies) {
  const { config, passwords, accounts, emailCodes, idempotency } = dependencies;

  /** @throws {ApiError} `validation_error`, `verification_token_invalid`, `username_taken`, `email_taken` */
  return async function signUp(
    input: NewUser,
    key: IdempotencyKey | undefined,
    context: RequestContext,
  ): Promise<Outcome<User>> {
    // A replay costs no password hash.
    const replay = await idempotency.findReplay<User>(key);
    if (replay) return replay;
    checkInput(input);
    const passwordHash = await passwords.hash(input.password, context);
    let replaced: number | undefined;
    const outcome = await idempotency.run(key, async (tx) => {
      const created = await createAccount(tx, input, passwordHash, context);
      replaced = created.replaced;
      return toUser(created.user);
    });
    if (outcome.replayedIn === undefined) {
      if (replaced !== undefined) context.audit('account_deleted', { userId: replaced });
      context.audit('signup', { userId: outcome.data.id });
    }
    return outcome;
  };

  function checkInput(input: NewUser): void {
    const errors = newPasswordErrors('password', input.password, input, config.password.minLength);
    if (input.verification_token === undefined && config.email.verification === 'required') {
      errors.push(tokenRequired);
    }
    if (errors.length > 0) throw invalidFields(errors);
  }

  /** @returns the account, and the id of the one that it replaced */
  async function createAccount(
    tx: Tx,
    { username, email, name, verification_token: proof }: NewUser,
    passwordHash: string,
    { language }: RequestContext,
  ): Promise<{ user: UserRow; replaced: number | undefined }> {
    const isVerified = proof !== undefined;
    if (isVerified) await emailCodes.lock(tx, [email]);
    if (isVerified && !(await emailCodes.useProof(tx, email, proof))) {
      throw new ApiError(authErrors.verificationTokenInvalid);
    }
    const account = { username, email, name, passwordHash, language, isVerified };
    let user = await accounts.create(tx, account);
    let replaced: number | undefined;
    if (user === undefined && isVerified) {
      replaced = await removeUnverified(dependencies, tx, email);
      user = await accounts.create(tx, account);
    }
    if (user === undefined) {
      const isUsernameTaken = await accounts.isUsernameTaken(tx, username);
      throw isUsernameTaken
        ? takenError('username', authErrors.usernameTaken)
        : takenError('email', authErrors.emailTaken);
    }
    if (!isVerified) {
      await enqueueVerificationCode(dependencies, tx, email, language);
    }
    return { user, replaced };
  }
}
