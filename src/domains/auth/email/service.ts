import { type CurrentUser, tokenNotValid } from '../../../http/authentication.ts';
import { ApiError, found, invalidFields, retryLater } from '../../../http/errors.ts';
import { problems } from '../../../http/field-errors.ts';
import type { Language } from '../../../http/language.ts';
import type { RequestContext } from '../../../http/request-context.ts';
import type { Tx } from '../../../infrastructure/database/client.ts';
import { isUniqueViolation } from '../../../infrastructure/database/errors.ts';
import type { AuthContext } from '../context.ts';
import { authErrors, takenError } from '../errors.ts';
import type { LoginMethodChange } from '../kinds.ts';
import type { EmailChange, EmailConfirmation, PasswordReset, ResetLinkParts, User } from '../schemas.ts';
import { toUser } from '../schemas.ts';
import { type UndoLink, undoDays, type WrongCode } from './repository.ts';

const currentAddress = {
  field: 'new_email',
  code: 'duplicate',
  text: {
    ko: '지금 사용하고 있는 이메일입니다. 다른 이메일을 입력해 주세요.',
    en: 'This is the current address of the account.',
  },
} as const;

type LoginMethod = LoginMethodChange['method'];
type Purpose = 'email_verify' | 'reset_password' | 'find_id';

export type EmailService = ReturnType<typeof createEmailService>;
/**
 * Verification of addresses, recovery of a password or username, and changes of the address with their undo. No response to a
 * stranger reveals whether an address has an account.
 */
export function createEmailService(auth: AuthContext) {
  const { config, database, mailQueue, passwords, accounts, sessions, logins, confirmation, removal } = auth;
  const { emailCodes, passwordResets, undoLinks, mailSends, sendNotice } = auth;

  /** Mails what was asked for, unless cooldown or cap forbid it; also to unknown addresses, so that the time does not tell them apart. */
  async function request(tx: Tx, purpose: Purpose, email: string, language: Language) {
    await accounts.lockNames(tx, email);
    const { allowed, resendAfter } = await mailSends.request(tx, purpose, email);
    const userId = (await accounts.find(tx, { email }))?.id;
    const answer = { userId, sent: { accepted: allowed, resend_after: resendAfter } };
    if (!allowed) return answer;
    if (purpose === 'email_verify')
      // That to a verified account has no code.
      await mailQueue.add(tx, 'verification_code', { id: await emailCodes.issue(tx, email), language });
    else if (purpose === 'reset_password')
      await mailQueue.add(tx, 'reset_link', { id: await passwordResets.issue(tx, email), language });
    // No account has the id 0.
    else await mailQueue.add(tx, 'user_id', { user_id: userId ?? 0, language });
    return answer;
  }

  async function sendCode(email: string, { language }: RequestContext) {
    const { sent } = await database.transaction((tx) => request(tx, 'email_verify', email, language));
    return { ...sent, expires_in: Math.floor(config.email.codeTtl) };
  }

  const answering =
    (purpose: Purpose, event: 'password_reset_requested' | 'user_id_requested') =>
    async (email: string, { language, logSecurityEvent }: RequestContext) => {
      const { userId, sent } = await database.transaction((tx) => request(tx, purpose, email, language));
      logSecurityEvent(event, { id: userId });
      return sent;
    };
  const requestLink = answering('reset_password', 'password_reset_requested');
  const findUsername = answering('find_id', 'user_id_requested');

  /** Checks a code or a link. It verifies the account of the session only: a stranger may have signed up with the address. */
  async function confirm(given: EmailConfirmation, user: CurrentUser | null, context: RequestContext) {
    // A link that does not work has no address; its token, which is none, stands for it.
    const email = 'code' in given ? given.email : ((await emailCodes.addressOf(given.token)) ?? given.token);
    // Throwing inside the transaction would roll back the count of attempts.
    const outcome = await database.transaction(async (tx) => {
      await accounts.lockNames(tx, email);
      const wrong =
        'code' in given
          ? await emailCodes.tryCode(tx, email, given.code)
          : await emailCodes.useLink(tx, given.token);
      if (wrong) return { wrong, userId: (await accounts.find(tx, { email }))?.id };
      const unverified = user && { id: user.id, email, isVerified: false };
      const verified = unverified && (await accounts.change(tx, unverified, { isVerified: true }));
      return { token: await emailCodes.issueProof(tx, email), userId: verified?.id };
    });
    const event = outcome.wrong ? 'email_code_failed' : 'email_verified';
    context.logSecurityEvent(event, { id: outcome.userId });
    if (!outcome.wrong) {
      const expires_in = Math.floor(config.email.verificationTokenTtl);
      return { email, verification_token: outcome.token, expires_in };
    }
    if ('code' in given) throw await codeError(email, outcome.wrong);
    throw new ApiError(authErrors.emailLinkInvalid, { data: { attempts_left: 0 } });
  }

  async function codeError(email: string, { attemptsLeft, exhausted }: WrongCode): Promise<ApiError> {
    if (!exhausted) return new ApiError(authErrors.invalidCode, { data: { attempts_left: attemptsLeft } });
    return retryLater(authErrors.tooManyCodeAttempts, await mailSends.wait(database, 'email_verify', email));
  }

  /** The account of a link, and when that expires. @throws {ApiError} `reset_link_invalid` */
  async function openLink(link: ResetLinkParts, tx: Tx = database) {
    const opened = await passwordResets.open(tx, link);
    const account = opened && (await accounts.find(tx, { email: opened.email }));
    if (!account) throw new ApiError(authErrors.resetLinkInvalid);
    return { account, expiresAt: opened.expiresAt };
  }

  /** Sets a new password and ends every session. The first proof of the address removes ways to log in that were added without. */
  async function reset({ new_password: password, ...link }: PasswordReset, context: RequestContext) {
    const { account } = await openLink(link);
    const { id, username, email } = account;
    passwords.checkNew({ field: 'new_password', password, account });
    const passwordHash = await passwords.hash(password, context);
    await database.transaction(async (tx) => {
      await accounts.lockNames(tx, email);
      await openLink(link, tx);
      await passwordResets.revoke(tx, email);
      await logins.clearFailures(tx, [username, email]);
      // Ways to log in that were added before were added without a proof of the address.
      const isFirstProof = await accounts.change(tx, { id, email, isVerified: false }, { isVerified: true });
      const removed = isFirstProof ? await removal.removeLoginMethods(tx, id) : [];
      // Since the link was opened, the account may have been deleted or have got its old address back.
      const isReset = await accounts.change(tx, { id, email }, { passwordHash, needsReset: false });
      if (!isReset) throw new ApiError(authErrors.resetLinkInvalid);
      await sessions.endAll(tx, id);
      await logins.forgetAddresses(tx, id);
      await sendNotice(tx, { id, language: context.language }, { kind: 'password_changed', ended: 'all' });
      await sendRemovals(tx, id, removed, context);
    });
    context.logSecurityEvent('password_reset', { id });
  }

  async function sendRemovals(tx: Tx, id: number, methods: LoginMethod[], { language }: RequestContext) {
    for (const method of methods)
      await sendNotice(tx, { id, language }, { kind: 'login_method_changed', change: 'removed', method });
  }

  /** Changes the address; every other session ends, and the old address gets a notice if it was verified. */
  async function change(user: CurrentUser, input: EmailChange, context: RequestContext): Promise<User> {
    const { id, sessionId } = user;
    const { new_email: newEmail, code, verification_token: proof } = input;
    const { wrong, changed } = await confirmation
      .runLocked(user, async (current) => {
        if (newEmail === current.email) throw invalidFields([currentAddress]);
        if (code === undefined && proof === undefined)
          throw invalidFields([{ field: 'code', ...problems.required }]);
        return {
          verifiedHash: await confirmation.authorize(current, input.password, context),
          names: [newEmail],
          // Both addresses and the account are locked.
          async work(tx, { email: oldEmail, isVerified }) {
            if (proof === undefined) {
              const wrong = await emailCodes.tryCode(tx, newEmail, code ?? '');
              if (wrong) return { wrong };
            } else if (!(await emailCodes.useProof(tx, newEmail, proof))) {
              throw new ApiError(authErrors.verificationTokenInvalid);
            }
            if (isVerified) {
              const link = await undoLinks.issue(tx, id, { oldEmail, newEmail });
              // While the account still has the old address, so that the notice counts for that one.
              await sendNotice(tx, { id, language: context.language }, { kind: 'email_changed', id: link });
              await emailCodes.revoke(tx, oldEmail);
            }
            await passwordResets.revoke(tx, oldEmail);
            const changed = await accounts.change(tx, { id }, { email: newEmail, isVerified: true });
            await sessions.endAll(tx, id, sessionId);
            return { changed };
          },
        };
      })
      .catch((error: unknown) => {
        // The whole transaction was rolled back, so the code still works.
        throw isUniqueViolation(error) ? takenError('new_email', authErrors.emailTaken) : error;
      });
    if (wrong) {
      context.logSecurityEvent('email_code_failed', user);
      throw await codeError(newEmail, wrong);
    }
    if (changed === undefined) throw tokenNotValid('access', 'revoked');
    context.logSecurityEvent('email_changed', user);
    return toUser(changed);
  }

  /**
   * Brings the old address back. Somebody else may have the account: every session ends, ways to log in that were added since the
   * change are removed, a reset link goes to the address, and until then the password changes neither password nor address. An
   * unverified account without a store that has taken the address is deleted. An error does not use the link up.
   */
  async function undo(token: string, context: RequestContext): Promise<void> {
    const link = found(await undoLinks.open(token), authErrors.undoLinkInvalid);
    await database
      .transaction((tx) => bringBack(tx, link, context))
      .catch((error: unknown) => {
        throw isUniqueViolation(error) ? takenError('token', authErrors.oldEmailTaken) : error;
      });
    context.logSecurityEvent('email_change_undone', { id: link.userId });
  }

  async function bringBack(tx: Tx, link: UndoLink, context: RequestContext): Promise<void> {
    const { userId, oldEmail: email } = link;
    await accounts.lockNames(tx, email);
    await mailSends.record(tx, 'reset_password', email);
    const holder = await accounts.find(tx, { email });
    const isFree =
      holder === null || holder.id === userId || (await removal.removeUnverified(tx, email, context));
    const account = await accounts.lock(tx, userId);
    if (account === null || !(await undoLinks.use(tx, link))) {
      throw new ApiError(authErrors.undoLinkInvalid);
    }
    if (!isFree) throw takenError('token', authErrors.oldEmailTaken);
    await accounts.change(tx, { id: userId }, { email, isVerified: true, needsReset: true });
    // Else somebody who knows the password could repeat the change until there is no link to undo it.
    await mailSends.forget(tx, 'email_change', email);
    await sessions.endAll(tx, userId);
    await logins.forgetAddresses(tx, userId);
    const changedAt = new Date(link.expiresAt.getTime() - undoDays * 86_400_000);
    const removed = await removal.removeLoginMethods(tx, userId, changedAt);
    const id = await passwordResets.issue(tx, email);
    await mailQueue.add(tx, 'reset_link', { id, language: context.language });
    await sendRemovals(tx, userId, removed, context);
  }

  return { request, sendCode, requestLink, findUsername, confirm, openLink, reset, change, undo };
}
