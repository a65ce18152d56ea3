import { type CurrentUser, tokenNotValid } from '../../../http/authentication.ts';
import { ApiError, invalidFields } from '../../../http/errors.ts';
import { problems } from '../../../http/field-errors.ts';
import type { RequestContext } from '../../../http/request-context.ts';
import type { Tx } from '../../../infrastructure/database/client.ts';
import type { AuthBase } from '../context.ts';
import { authErrors } from '../errors.ts';
import { changeNotice, type LoginMethodChange } from '../notices.ts';
import type { Confirmation } from '../schemas.ts';
import type { LoginService } from './service.ts';

/** Seconds for which a login or a confirmation counts. */
const confirmationLifetime = 600;

interface MethodChange extends Pick<LoginMethodChange, 'change' | 'method'> {
  user: CurrentUser;
  context: RequestContext;
}

interface LockedWork<Result> {
  /** Against which the user was verified; null without a password. */
  passwordHash: string | null;
  names?: string[];
  work: (tx: Tx, account: { email: string; isVerified: boolean }) => Promise<Result>;
}
type Prepare<Result> = (user: CurrentUser) => Promise<LockedWork<Result>>;

/** Whether the user of a session lately proved again who they are, which changes of the ways to log in need. */
export function createConfirmation(
  { database, mailQueue, accounts, sessions }: AuthBase,
  { verifyOwnPassword }: LoginService,
) {
  /** @throws {ApiError} `token_not_valid` when the session has ended, `forbidden` after an undone change of email */
  async function read(user: CurrentUser, tx: Tx = database) {
    const state = await sessions.confirmation(tx, user.sessionId, confirmationLifetime);
    if (state === undefined) throw tokenNotValid('access', 'revoked');
    // Somebody else may know the password, and must not add a way to log in before it is reset.
    if (state.needsReset) throw new ApiError(authErrors.resetRequired);
    return state;
  }

  /** @param tx of the change, which locks the account first, as what ends sessions does: a session that was ended changes nothing */
  async function require(user: CurrentUser, tx?: Tx): Promise<void> {
    if (tx) await accounts.lock(tx, user.id);
    const { isRecent, methods } = await read(user, tx);
    if (!isRecent) throw new ApiError(authErrors.confirmationRequired, { data: { methods } });
  }

  /**
   * Runs work in a transaction in which the account, its address and other names are locked.
   *
   * @param prepare verifies the user; runs again where address or password were changed since then
   */
  async function runLocked<Result>(user: CurrentUser, prepare: Prepare<Result>): Promise<Result> {
    const { passwordHash, names = [], work } = await prepare(user);
    const done = await database.transaction(async (tx) => {
      await accounts.lockNames(tx, user.email, ...names);
      const account = await accounts.lock(tx, user.id);
      await read(user, tx);
      const isSame = account?.email === user.email && account.passwordHash === passwordHash;
      return isSame ? { result: await work(tx, account) } : undefined;
    });
    if (done) return done.result;
    const current = await sessions.findUser({ userId: user.id, sessionId: user.sessionId });
    if (current === undefined) throw tokenNotValid('access', 'revoked');
    return runLocked(current, prepare);
  }

  return {
    require,
    runLocked,

    /** Adds or removes a way to log in of a confirmed session; with a label of what was changed, mails a notice and logs it. */
    async change<Result extends { label: string } | undefined>(
      { user, context, change, method }: MethodChange,
      work: (tx: Tx) => Promise<Result>,
    ): Promise<Result> {
      return database.transaction(async (tx) => {
        await require(user, tx);
        const changed = await work(tx);
        if (changed === undefined) return changed;
        const recipient = { id: user.id, language: context.language };
        const notice = { change, method, label: changed.label };
        await mailQueue.addUnrequested(tx, changeNotice('login_method_changed', recipient, notice));
        tx.afterCommit(() => context.logSecurityEvent(`${method}_${change}`, user));
        return changed;
      });
    },

    /** Verifies the password, or that an account without one has confirmed recently. @returns the verified hash; null without one */
    async authorize(user: CurrentUser, password: string | undefined, context: RequestContext) {
      if (password !== undefined) return verifyOwnPassword(user, password, context);
      const { methods } = await read(user);
      if (methods.includes('password')) throw invalidFields([{ field: 'password', ...problems.required }]);
      await require(user);
      return null;
    },

    async save(user: CurrentUser, method: string, context: RequestContext): Promise<Confirmation> {
      const confirmedAt = await sessions.confirm(user, method);
      if (confirmedAt === undefined) throw tokenNotValid('access', 'revoked');
      context.logSecurityEvent('confirmed', user);
      return { confirmed_until: new Date(confirmedAt.getTime() + confirmationLifetime * 1000).toISOString() };
    },
  };
}
