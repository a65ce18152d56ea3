import type { AuthDependencies } from '../dependencies.ts';
import { lockWithoutStore, type RemovableAccount, removeAccount } from './account-removal.ts';

const batchSize = 50;
/** The next run continues where this one stops. */
const maxBatches = 20;

/**
 * Part of the clean-up: deletes unverified accounts without a store and without a login for `UNVERIFIED_ACCOUNT_TTL`, each as
 * by its owner and in a transaction of its own, so that no lock is kept for long.
 */
export function createAbandonedAccounts(dependencies: AuthDependencies) {
  const { config, database, unverifiedAccounts, logger } = dependencies;

  /** @returns how many accounts were deleted */
  return async function deleteAbandonedAccounts(): Promise<number> {
    if (config.email.unverifiedAccountTtl === 0) return 0;
    let total = 0;
    for (let batch = 0, found = batchSize; batch < maxBatches && found === batchSize; batch++) {
      const accounts = await unverifiedAccounts.findAbandoned(batchSize);
      found = accounts.length;
      for (const account of accounts) total += Number(await removeIfAbandoned(account));
    }
    return total;
  };

  /** Checks again once the account is locked: until then it can be deleted, get a session or get a store. */
  async function removeIfAbandoned(account: RemovableAccount): Promise<boolean> {
    const removed = await database.runInTransaction(async (tx) => {
      if (!(await lockWithoutStore(dependencies, tx, account))) return false;
      if (!(await unverifiedAccounts.isAbandoned(tx, account.id))) return false;
      return removeAccount(dependencies, tx, account);
    });
    if (removed) {
      logger.info({ event: 'account_deleted', userId: account.id }, 'security event: account_deleted');
    }
    return removed;
  }
}
