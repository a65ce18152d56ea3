import { type CurrentUser, tokenNotValid } from '../../../http/authentication.ts';
import { ApiError, invalidFields } from '../../../http/errors.ts';
import type { FieldError } from '../../../http/field-errors.ts';
import type { RequestContext } from '../../../http/request-context.ts';
import type { Tx } from '../../../infrastructure/database/client.ts';
import type { IdempotencyKey } from '../../../infrastructure/database/idempotency.ts';
import type { ConsentService } from '../consents/service.ts';
import type { AuthContext } from '../context.ts';
import type { EmailService } from '../email/service.ts';
import { authErrors, takenError } from '../errors.ts';
import { deletedAddress } from '../kinds.ts';
import { type NewUser, type PasswordChange, toUser, type User, type UserChanges } from '../schemas.ts';
import type { UserRow } from './repository.ts';

const tokenRequired: FieldError = {
  field: 'verification_token',
  code: 'required',
  text: { ko: '이메일을 먼저 인증해 주세요.', en: 'Please verify the email address first.' },
};

/** What every kind of sign-up has. */
interface NewAccount extends Omit<NewUser, 'password'> {
  passwordHash: string | null;
  /** Whether a provider has verified the address. */
  isProved: boolean;
}

export type AccountService = ReturnType<typeof createAccounts>;
/** Creates accounts, and changes and deletes those of logged-in users. */
export function createAccounts(auth: AuthContext, consents: ConsentService, emails: EmailService) {
  const { config, database, idempotency, mailQueue, passwords, login, confirmation, removal, sealer } = auth;
  const { accounts, sessions, emailCodes, passwordResets, sendNotice } = auth;

  /** Creates an account; without a proof of the address a code is mailed, with it an unverified account without a store is replaced. */
  async function signUp({ password, ...input }: NewUser, context: RequestContext, key?: IdempotencyKey) {
    // A replay costs no password hash.
    const replay = await idempotency.findReplay<User>(key);
    if (replay) return replay;
    const problems = signUpProblems({ ...input, isProved: false });
    passwords.checkNew({ field: 'password', password, account: input }, problems);
    const passwordHash = await passwords.hash(password, context);
    return idempotency.run(key, async (tx) =>
      toUser(await createAccount(tx, { ...input, passwordHash, isProved: false }, context)),
    );
  }

  function signUpProblems(input: Omit<NewAccount, 'passwordHash'>): FieldError[] {
    const isProofRequired = config.email.verification === 'required' && !input.isProved;
    const isProofMissing = isProofRequired && input.verification_token === undefined;
    return [...(isProofMissing ? [tokenRequired] : []), ...consents.signUpProblems(input.consents)];
  }

  /** Creates an account. Errors do not use up the `verification_token`. */
  async function createAccount(tx: Tx, input: NewAccount, context: RequestContext): Promise<UserRow> {
    const { username, email, name, passwordHash, isProved, verification_token: proof } = input;
    const { language } = context;
    const missing = signUpProblems(input);
    if (missing.length > 0) throw invalidFields(missing);
    const isVerified = isProved || proof !== undefined;
    await accounts.lockNames(tx, email, username);
    if (!isProved && proof !== undefined && !(await emailCodes.useProof(tx, email, proof))) {
      throw new ApiError(authErrors.verificationTokenInvalid);
    }
    if (isVerified) await removal.removeUnverified(tx, email, context);
    // Looked up before, because a rejected row would use up an id.
    if (await accounts.find(tx, { username })) throw takenError('username', authErrors.usernameTaken);
    if (await accounts.find(tx, { email })) throw takenError('email', authErrors.emailTaken);
    const user = await accounts.create(tx, { username, email, name, passwordHash, language, isVerified });
    if (input.consents) await consents.record(tx, user.id, { answers: input.consents, ip: context.ip });
    if (!isVerified) await emails.request(tx, 'email_verify', email, language);
    tx.afterCommit(() => context.logSecurityEvent('signup', user));
    return user;
  }

  async function rename({ id }: CurrentUser, changes: UserChanges): Promise<User> {
    const changed = await accounts.change(database, { id }, changes);
    if (changed === undefined) throw tokenNotValid('access', 'revoked');
    return toUser(changed);
  }

  /** Sets a new password; every other session ends. */
  async function changePassword(user: CurrentUser, input: PasswordChange, context: RequestContext) {
    const { id, sessionId } = user;
    const { new_password: password } = input;
    const { language } = context;
    await confirmation.runLocked(user, async (current) => {
      passwords.checkNew({ field: 'new_password', password, account: current });
      const verifiedHash = await login.verifyOwnPassword(current, input.current_password, context);
      const passwordHash = await passwords.hash(password, { ...context, userId: id });
      return {
        verifiedHash,
        async work(tx, { email, isVerified }) {
          const storeId = await removal.lockAccount(tx, { id, email });
          // Into an unverified account with a store, a reset is the only way for the owner of the address.
          if (isVerified || storeId === undefined) await passwordResets.revoke(tx, email);
          await accounts.change(tx, { id }, { passwordHash });
          await sessions.endAll(tx, id, sessionId);
          await sendNotice(tx, { id, language }, { kind: 'password_changed', ended: 'others' });
        },
      };
    });
    context.logSecurityEvent('password_changed', user);
  }

  /** Deletes the account with everything that only it has. @param password undefined for an account without one */
  async function deleteAccount(user: CurrentUser, password: string | undefined, context: RequestContext) {
    await confirmation.runLocked(user, async (current) => ({
      verifiedHash: await confirmation.authorize(current, password, context),
      async work(tx, account) {
        await removal.remove(tx, { id: user.id, ...account });
        if (!account.isVerified) return;
        // Once for an account, so without a cap, which would need its row. The user's id: one that fails is not kept.
        const email = sealer.seal(account.email, deletedAddress);
        const { language } = context;
        const payload = { user_id: user.id, email, changed_at: Date.now(), language };
        await mailQueue.add(tx, 'account_deleted', payload);
      },
    }));
    context.logSecurityEvent('account_deleted', user);
  }

  return { signUp, createAccount, rename, changePassword, deleteAccount };
}
