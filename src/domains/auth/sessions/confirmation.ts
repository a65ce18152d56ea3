import { type CurrentUser, tokenNotValid } from '../../../http/authentication.ts';
import { ApiError, invalidFields } from '../../../http/errors.ts';
import { problems } from '../../../http/field-errors.ts';
import type { RequestContext } from '../../../http/request-context.ts';
import type { Tx } from '../../../infrastructure/database/client.ts';
import type { AuthBase } from '../context.ts';
import { authErrors } from '../errors.ts';
import type { LoginMethodChange } from '../kinds.ts';
import type { Confirmation } from '../schemas.ts';
import type { LoginService } from './service.ts';

/** Seconds for which a login or a confirmation counts. */
const confirmationLifetime = 600;

interface MethodChange extends Pick<LoginMethodChange, 'change' | 'method'> {
  user: CurrentUser;
  context: RequestContext;
}

type Labelled = { label: string } | undefined;
type Work<Result> = (tx: Tx) => Promise<Result>;

interface LockedWork<Result> {
  /** Of the password with which the user was verified; null without one. */
  verifiedHash: string | null;
  names?: string[];
  work: (tx: Tx, account: { email: string; isVerified: boolean }) => Promise<Result>;
}
type Prepare<Result> = (user: CurrentUser) => Promise<LockedWork<Result>>;

/** Whether the user of a session lately proved again who they are, which changes of the ways to log in need. */
export function createConfirmation(auth: AuthBase, { verifyOwnPassword }: LoginService) {
  const { database, accounts, sessions, sendNotice } = auth;

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

  /** Runs work while the account, its address and other names are locked. @param prepare verifies the user, again after a change */
  async function runLocked<Result>(user: CurrentUser, prepare: Prepare<Result>): Promise<Result> {
    const { verifiedHash, names = [], work } = await prepare(user);
    const done = await database.transaction(async (tx) => {
      await accounts.lockNames(tx, user.email, ...names);
      const account = await accounts.lock(tx, user.id);
      await read(user, tx);
      const isSame = account?.email === user.email && account.passwordHash === verifiedHash;
      return isSame ? { result: await work(tx, account) } : undefined;
    });
    if (done) return done.result;
    const current = await sessions.findUser({ userId: user.id, sessionId: user.sessionId });
    if (current === undefined) throw tokenNotValid('access', 'revoked');
    return runLocked(current, prepare);
  }

  /** Adds or removes a way to log in of a confirmed session; with a label of what was changed, mails a notice and logs it. */
  async function changeIn<Result extends Labelled>(tx: Tx, of: MethodChange, work: Work<Result>) {
    const { user, context, change, method } = of;
    await require(user, tx);
    const changed = await work(tx);
    if (changed === undefined) return changed;
    const notice = { kind: 'login_method_changed', change, method, label: changed.label } as const;
    await sendNotice(tx, { id: user.id, language: context.language }, notice);
    tx.afterCommit(() => context.logSecurityEvent(`${method}_${change}`, user));
    return changed;
  }

  return {
    require,
    runLocked,
    changeIn,

    change: <Result extends Labelled>(of: MethodChange, work: Work<Result>): Promise<Result> =>
      database.transaction((tx) => changeIn(tx, of, work)),

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
