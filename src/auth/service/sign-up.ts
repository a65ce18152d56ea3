import type { Tx } from '../../database/client.ts';
import { ApiError, type ErrorDefinition, invalidFields } from '../../http/errors.ts';
import type { FieldError } from '../../http/field-errors.ts';
import type { IdempotencyKey, Outcome } from '../../http/idempotency.ts';
import type { RequestContext } from '../../http/request-context.ts';
import type { AuthDependencies } from '../dependencies.ts';
import { authErrors } from '../errors.ts';
import { newPasswordErrors } from '../passwords.ts';
import { toUser } from '../presenters.ts';
import type { SignupRequest, User } from '../schemas.ts';
import { enqueueVerificationCode } from './email-verification.ts';

const tokenRequired: FieldError = {
  field: 'verification_token',
  code: 'required',
  text: { ko: '이메일을 먼저 인증해 주세요.', en: 'Please verify the e-mail address first.' },
};

/** What `username_taken` and `email_taken` say about their field. */
function takenError(field: 'username' | 'email', definition: ErrorDefinition): ApiError {
  return new ApiError(definition, { fieldErrors: [{ field, code: 'taken', text: definition.text }] });
}

/** Creates accounts, and mails a code where the e-mail address is not verified yet. */
export function createSignUp(dependencies: AuthDependencies) {
  const { config, passwords, accounts, emailCodes, idempotency } = dependencies;

  /** @throws {ApiError} `validation_error`, `verification_token_invalid`, `username_taken`, `email_taken` */
  return async function signUp(
    input: SignupRequest,
    key: IdempotencyKey | undefined,
    context: RequestContext,
  ): Promise<Outcome<User>> {
    // A replay costs no password hash.
    const replay = await idempotency.findReplay<User>(key);
    if (replay) return replay;
    checkInput(input);
    const passwordHash = await passwords.hash(input.password);
    const outcome = await idempotency.run(key, (tx) => createAccount(tx, input, passwordHash, context));
    if (outcome.replayedIn === undefined) context.audit('signup', { userId: outcome.data.id });
    return outcome;
  };

  function checkInput(input: SignupRequest): void {
    const errors = newPasswordErrors('password', input.password, input, config.password.minLength);
    if (input.verification_token === undefined && config.email.verification === 'required') {
      errors.push(tokenRequired);
    }
    if (errors.length > 0) throw invalidFields(errors);
  }

  async function createAccount(
    tx: Tx,
    { username, email, name, verification_token: proof }: SignupRequest,
    passwordHash: string,
    { language }: RequestContext,
  ): Promise<User> {
    const isVerified = proof !== undefined;
    if (isVerified && !(await emailCodes.useProof(tx, email, proof))) {
      throw new ApiError(authErrors.verificationTokenInvalid);
    }
    const user = await accounts.create(tx, { username, email, name, passwordHash, language, isVerified });
    if (user === undefined) {
      const isUsernameTaken = await accounts.isUsernameTaken(tx, username);
      throw isUsernameTaken
        ? takenError('username', authErrors.usernameTaken)
        : takenError('email', authErrors.emailTaken);
    }
    if (!isVerified) await enqueueVerificationCode(dependencies, tx, email, language);
    return toUser(user);
  }
}
