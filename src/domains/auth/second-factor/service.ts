import { type CurrentUser, tokenNotValid } from '../../../http/authentication.ts';
import { ApiError, retryLater } from '../../../http/errors.ts';
import type { EventSubject, RequestContext } from '../../../http/request-context.ts';
import type { Tx } from '../../../infrastructure/database/client.ts';
import type { AuthContext } from '../context.ts';
import { authErrors } from '../errors.ts';
import type { ConfirmationBody, SecondFactorLogin } from '../schemas.ts';
import type { LoginAccount } from '../sessions/login-repository.ts';
import { maxFlowAttempts } from '../sessions/repository.ts';
import type { LoginProof } from '../sessions/service.ts';

const method = 'second_factor';

/** What came of a code: undefined when it is wrong, perhaps with the tries that are left besides those of the account. */
type Check<Result> = (tx: Tx) => Promise<{ result: Result | undefined; attemptsLeft?: number }>;

type CodeAttempt = { account: LoginAccount; actor: EventSubject; context: RequestContext };

export type SecondFactorService = ReturnType<typeof createSecondFactor>;
/** One-time codes of an authenticator app, recovery codes, and what they are asked for: logins and confirmations. */
export function createSecondFactor(auth: AuthContext) {
  const { database, accounts, secondFactors, logins, flows, login, confirmation, sendNotice } = auth;

  function rejectFor(seconds: number, actor: EventSubject, context: RequestContext): void {
    if (seconds <= 0) return;
    context.logSecurityEvent('login_delayed', actor);
    throw retryLater(authErrors.tooManySecondFactors, seconds);
  }

  /** Checks a code while counters and account are locked. Wrong ones count like failed logins; their delay rejects right ones, too. */
  async function attempt<Result>({ account, actor, context }: CodeAttempt, check: Check<Result>) {
    const outcome = await database.transaction(async (tx) => {
      const counters = logins.countersOf(account, context.clientAddress);
      const { delay, countFailure } = await logins.lockCounters(tx, counters);
      if (delay > 0) return { delay };
      await accounts.lock(tx, account.id);
      const { result, attemptsLeft = Number.POSITIVE_INFINITY } = await check(tx);
      if (result !== undefined) return { result };
      return { attemptsLeft: Math.min(attemptsLeft, await countFailure()) };
    });
    if (outcome.delay !== undefined) rejectFor(outcome.delay, actor, context);
    if (outcome.result !== undefined) return outcome.result;
    context.logSecurityEvent('second_factor_failed', actor);
    throw new ApiError(authErrors.invalidCode, { data: { attempts_left: outcome.attemptsLeft ?? 0 } });
  }

  /** The same for a logged-in user. @throws {ApiError} `token_not_valid`, `forbidden` after an undone change of email */
  async function attemptOwn<Result>(user: CurrentUser, context: RequestContext, check: Check<Result>) {
    const { account } = await logins.findOwn(user, context.clientAddress);
    if (account === undefined) throw tokenNotValid('access', 'revoked');
    if (account.needsReset) throw new ApiError(authErrors.resetRequired);
    return attempt({ account, actor: user, context }, check);
  }

  return {
    async status(userId: number) {
      const { secondFactor, _count } = (await secondFactors.status(userId)) ?? {};
      return {
        totp_enabled_at: secondFactor?.confirmedAt?.toISOString() ?? null,
        recovery_codes_left: secondFactor?._count.recoveryCodes ?? 0,
        passkeys: _count?.passkeys ?? 0,
      };
    },

    /** Makes a secret, which is not asked for before it is confirmed. @throws {ApiError} `second_factor_exists` */
    begin(user: CurrentUser) {
      return database.transaction(async (tx) => {
        await confirmation.require(user, tx);
        if (await secondFactors.isOn(tx, user.id)) throw new ApiError(authErrors.secondFactorExists);
        const { secret, uri } = await secondFactors.begin(tx, user.id, user.username);
        return { secret, otpauth_uri: uri };
      });
    },

    /** Switches the second factor on with a code of its app. @returns the recovery codes */
    async confirm(user: CurrentUser, code: string, context: RequestContext) {
      const change = { user, context, change: 'added', method } as const;
      const { recovery_codes } = await attemptOwn(user, context, async (tx) => {
        const result = await confirmation.changeIn(tx, change, async () => {
          if (await secondFactors.isOn(tx, user.id)) throw new ApiError(authErrors.secondFactorExists);
          if (!(await secondFactors.confirm(tx, user.id, code))) return undefined;
          return { label: '', recovery_codes: await secondFactors.replaceRecoveryCodes(tx, user.id) };
        });
        return { result };
      });
      return { recovery_codes };
    },

    async replaceRecoveryCodes(user: CurrentUser, context: RequestContext) {
      const recovery_codes = await database.transaction(async (tx) => {
        await confirmation.require(user, tx);
        if (!(await secondFactors.isOn(tx, user.id))) throw new ApiError(authErrors.secondFactorNotFound);
        return secondFactors.replaceRecoveryCodes(tx, user.id);
      });
      context.logSecurityEvent('recovery_codes_replaced', user);
      return { recovery_codes };
    },

    async remove(user: CurrentUser, context: RequestContext): Promise<void> {
      await confirmation.change({ user, context, change: 'removed', method }, async (tx) =>
        (await secondFactors.remove(tx, user.id)) ? { label: '' } : undefined,
      );
    },

    async removeByOperator(tx: Tx, userId: number): Promise<void> {
      const user = await accounts.find(tx, { id: userId });
      if (!user || !(await secondFactors.remove(tx, userId))) return;
      await sendNotice(tx, user, { kind: 'login_method_changed', change: 'removed', method });
    },

    /** Completes a login. @throws {ApiError} `second_factor_token_invalid`, `account_suspended`, and as {@link attempt} */
    async logIn({ second_factor_token: token, code }: SecondFactorLogin, context: RequestContext) {
      const invalidToken = new ApiError(authErrors.secondFactorTokenInvalid);
      const { userId } = (await flows.find(database, 'second_factor', token)) ?? { userId: null };
      if (userId === null) throw invalidToken;
      // Before the flow ends: a reset of the password in between ends the flow or is noticed by `startSession`.
      const account = await logins.findById(userId, context.clientAddress);
      if (account === undefined) throw invalidToken;
      const actor = { id: userId };
      const methods = await attempt({ account, actor, context }, async (tx) => {
        const method = await secondFactors.use(tx, userId, code);
        const flow = await flows.attempt<LoginProof>(tx, 'second_factor', token);
        if (flow === undefined) throw invalidToken;
        if (method === undefined) return { result: method, attemptsLeft: maxFlowAttempts - flow.attempts };
        await flows.end(tx, 'second_factor', token);
        return { result: [...flow.data.methods, method] };
      });
      const counters = logins.countersOf(account, context.clientAddress);
      const session = await login.startSession(account, { methods, counters }, context);
      if (session !== undefined) return session;
      rejectFor(await logins.delay(counters), actor, context);
      throw invalidToken;
    },

    /** Saves that the user of a session proved again who they are, by one of password and code. */
    async confirmUser(user: CurrentUser, body: ConfirmationBody, context: RequestContext) {
      if ('password' in body) {
        await login.verifyOwnPassword(user, body.password, context);
        return confirmation.save(user, 'password', context);
      }
      const method = await attemptOwn(user, context, async (tx) => ({
        result: await secondFactors.use(tx, user.id, body.code),
      }));
      return confirmation.save(user, method, context);
    },
  };
}
