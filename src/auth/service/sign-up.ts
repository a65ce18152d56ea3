import type { FastifyRequest } from 'fastify';
import type { Connection } from '../../database/client.ts';
import { audit } from '../../http/audit.ts';
import { ApiError, invalidFields } from '../../http/errors.ts';
import type { Transaction } from '../../http/idempotency.ts';
import type { AuthDependencies } from '../dependencies.ts';
import { authErrors } from '../errors.ts';
import { passwordProblems } from '../passwords.ts';
import type { SignupRequest, User } from '../schemas.ts';
import { sendVerificationCode } from './email-verification.ts';

const tokenRequired = { ko: '이메일을 먼저 인증해 주세요.', en: 'Please verify the e-mail address first.' };

/** Makes an account, and mails a code where the e-mail address is not proved yet. */
export function createSignUp({ config, passwords, accounts, emailCodes, ...dependencies }: AuthDependencies) {
  /**
   * @param transaction runs the change; with an idempotency key it gives the first answer again
   * @throws {ApiError} `validation_error`, `verification_token_invalid`, `username_taken`, `email_taken`
   */
  return async function signUp(
    transaction: Transaction,
    input: SignupRequest,
    request: FastifyRequest,
  ): Promise<User> {
    const { language } = request;
    const { username, email, name, password, verification_token: proof } = input;
    const problems = passwordProblems('password', password, input, config.password.minLength);
    if (proof === undefined && config.email.verification === 'required') {
      problems['verification_token'] = [tokenRequired];
    }
    if (Object.keys(problems).length > 0) throw invalidFields(problems);
    const passwordHash = await passwords.hash(password);

    let isNew = false;
    const user = await transaction(async (tx) => {
      const isVerified = proof !== undefined;
      if (isVerified && !(await emailCodes.useProof(tx, email, proof))) {
        throw new ApiError(authErrors.verificationTokenInvalid);
      }
      const user = await accounts.create(tx, { username, email, name, passwordHash, language, isVerified });
      if (user === undefined) throw await takenError(tx, username);
      if (!isVerified) {
        await sendVerificationCode({ ...dependencies, emailCodes }, tx, email, language);
      }
      isNew = true;
      return user;
    });
    if (isNew) audit(request, 'signup', { userId: user.id });
    return user;
  };

  async function takenError(tx: Connection, username: string): Promise<ApiError> {
    const taken = await accounts.isUsernameTaken(tx, username);
    return new ApiError(taken ? authErrors.usernameTaken : authErrors.emailTaken);
  }
}
