import { type CurrentUser, tokenNotValid } from '../../../http/authentication.ts';
import { ApiError, invalidFields } from '../../../http/errors.ts';
import { problems } from '../../../http/field-errors.ts';
import type { RequestContext } from '../../../http/request-context.ts';
import type { Database, Tx } from '../../../infrastructure/database/client.ts';
import { authErrors } from '../errors.ts';
import type { AuthRepository } from '../repository/index.ts';
import type { Confirmation } from '../schemas.ts';
import type { Login } from './login.ts';

/** Seconds for which a login or a confirmation counts. */
const confirmationLifetime = 600;

export type ConfirmationService = ReturnType<typeof createConfirmation>;

/** Whether the user of a session lately proved again who they are, which changes of the ways to log in need. */
export function createConfirmation({ accounts, sessions }: AuthRepository, { verifyOwnPassword }: Login) {
  /** @throws {ApiError} `token_not_valid` when the session has ended, `forbidden` after an undone change of email */
  async function read(user: CurrentUser, { language }: RequestContext, tx?: Tx) {
    const state = await sessions.confirmation(user.sessionId, confirmationLifetime, tx);
    if (state === undefined) throw tokenNotValid('access', 'revoked', language);
    // Somebody else may know the password, and must not add a way to log in before it is reset.
    if (state.needsReset) throw new ApiError(authErrors.resetRequired);
    return state;
  }

  /**
   * @param tx in which the account is locked, so that the session is not ended meanwhile
   * @throws {ApiError} `confirmation_required`, `forbidden`, `token_not_valid`
   */
  async function require(user: CurrentUser, context: RequestContext, tx?: Tx): Promise<void> {
    const { isRecent, methods } = await read(user, context, tx);
    if (!isRecent) throw new ApiError(authErrors.confirmationRequired, { data: { methods } });
  }

  return {
    require,

    /**
     * Locks the account for a change of its ways to log in. What ends sessions, such as a reset of the password, locks the account
     * first, so this notices when it came before.
     *
     * @throws {ApiError} `token_not_valid` when the session has ended
     */
    async lockAccount(tx: Database, { id, sessionId }: CurrentUser, { language }: RequestContext) {
      const account = await accounts.lock(tx, id);
      const isLive = account !== undefined && (await sessions.exists(tx, sessionId));
      if (!isLive) throw tokenNotValid('access', 'revoked', language);
    },

    /**
     * Verifies the password of an operation that takes one. An account without a password needs a recent confirmation instead.
     *
     * @returns the hash that the password was verified against; null without a password
     * @throws {ApiError} `validation_error`, and as {@link Login.verifyOwnPassword} or {@link require}
     */
    async authorize(user: CurrentUser, password: string | undefined, context: RequestContext) {
      if (password !== undefined) return verifyOwnPassword(user, password, context);
      const { methods } = await read(user, context);
      if (methods.includes('password')) throw invalidFields([{ field: 'password', ...problems.required }]);
      await require(user, context);
      return null;
    },

    /** @returns when the confirmation ends @throws {ApiError} `token_not_valid` */
    async save(user: CurrentUser, method: string, context: RequestContext): Promise<Confirmation> {
      const session = { userId: user.id, sessionId: user.sessionId };
      const confirmedAt = await sessions.confirm(session, method);
      if (confirmedAt === undefined) throw tokenNotValid('access', 'revoked', context.language);
      context.logSecurityEvent('confirmed', session);
      return { confirmed_until: new Date(confirmedAt.getTime() + confirmationLifetime * 1000).toISOString() };
    },
  };
}
