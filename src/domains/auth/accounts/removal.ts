import { serviceUnavailable } from '../../../http/errors.ts';
import type { RequestContext } from '../../../http/request-context.ts';
import { pagesOfRun } from '../../../infrastructure/database/clean-up.ts';
import type { Tx } from '../../../infrastructure/database/client.ts';
import { sql } from '../../../infrastructure/database/sql.ts';
import { releaseImagesOf } from '../../images/index.ts';
import { deletePostsOfStore } from '../../posts/index.ts';
import { closeStore, lockStore } from '../../stores/index.ts';
import type { AuthBase } from '../context.ts';
import type { RemovableAccount } from './repository.ts';

/** Deletes accounts: by their owners, by operators, by a sign-up that proves the address, and by the clean-up. */
export function createAccountRemoval(auth: AuthBase) {
  const { database, logger, accounts, emailCodes, identities, passwordResets } = auth;
  const { idempotency, closeRequestsOfStore } = auth;

  /**
   * Deletes an account with everything that only it has; its username and email address are free again. Its store stays,
   * closed and without contact details, for the other side of its requests. To avoid deadlocks, notifying comes after all other
   * statements that may wait for a lock.
   */
  async function remove(tx: Tx, { id, email, isVerified }: RemovableAccount): Promise<boolean> {
    const storeId = await lockAccount(tx, { id, email });
    // Those of an unverified address may be another person's, who owns the address.
    if (isVerified) await emailCodes.revoke(tx, email);
    await passwordResets.revoke(tx, email);
    await idempotency.deleteResponsesOf(tx, id);
    if (storeId !== undefined) await deletePostsOfStore(tx, storeId);
    await releaseImagesOf(tx, id);
    if (storeId !== undefined) {
      await closeStore(tx, storeId);
      await closeRequestsOfStore(tx, { id: storeId, ownerId: id });
    }
    await identities.queueRevocations(tx, id, { since: new Date(0) });
    return accounts.remove(tx, id);
  }

  /** Removes the ways to log in that were added since a time, by default all. @returns their kinds, of which notices are due */
  async function removeLoginMethods(tx: Tx, id: number, since = new Date(0)) {
    await identities.queueRevocations(tx, id, { since });
    return accounts.removeLoginMethods(tx, id, since);
  }

  /** Locks the address of an account, the account and its store. @returns the id of the store; none is registered meanwhile */
  async function lockAccount(tx: Tx, { id, email }: { id: number; email: string }) {
    await accounts.lockNames(tx, email);
    return lockStore(tx, id);
  }

  /** Deletes an account as its owner does. @throws {ApiError} `service_unavailable` when its email address was changed meanwhile */
  async function removeById(tx: Tx, id: number): Promise<boolean> {
    const known = await accounts.find(tx, { id });
    if (known === null) return false;
    await lockAccount(tx, known);
    const account = await accounts.find(tx, { id });
    if (account === null) return false;
    if (account.email !== known.email) {
      throw serviceUnavailable(new Error('the email address of the account was changed meanwhile'), 1);
    }
    return remove(tx, account);
  }

  /** Deletes the unverified account without a store that has an address. @returns whether there was one */
  async function removeUnverified(tx: Tx, email: string, log: RequestContext): Promise<boolean> {
    const known = await accounts.find(tx, { email, isVerified: false });
    if (known === null) return false;
    const storeId = await lockAccount(tx, known);
    // A suspended account is kept, as it is for operators.
    const account = await accounts.find(tx, { id: known.id, email, isVerified: false, suspendedAt: null });
    if (storeId !== undefined || account === null) return false;
    tx.afterCommit(() => log.logSecurityEvent('account_deleted', account));
    return remove(tx, account);
  }

  /** Part of the clean-up: deletes unverified accounts, each in a transaction of its own. Yields how many each step deleted. */
  async function* removeAbandoned(): AsyncGenerator<number, void> {
    for await (const pages of pagesOfRun(database, 'users')) {
      for (const account of await accounts.findAbandoned(database, pages))
        yield await removeIfAbandoned(account);
      yield 0;
    }
  }

  async function removeIfAbandoned(account: RemovableAccount): Promise<number> {
    const isRemoved = await database.transaction(async (tx) => {
      await lockAccount(tx, account);
      // Until it is locked it can be deleted, get a session or get a store.
      const [abandoned] = await accounts.findAbandoned(tx, sql`u.id = ${account.id}`);
      return abandoned !== undefined && remove(tx, abandoned);
    });
    if (!isRemoved) return 0;
    logger.info({ event: 'account_deleted', userId: account.id }, 'security event: account_deleted');
    return 1;
  }

  return { remove, removeLoginMethods, lockAccount, removeById, removeUnverified, removeAbandoned };
}
