import type { Tx } from '../database/client.ts';

/** What each domain does when an account is deleted. */
interface AccountDeletionSteps {
  /** Locks the user, too. @returns undefined when the user has no store */
  lockStore(tx: Tx, userId: number): Promise<number | undefined>;
  /** Deletes the answers that are kept for the user's idempotency keys. */
  deleteAnswersOf(tx: Tx, userId: number): Promise<void>;
  deletePostsOfStore(tx: Tx, storeId: number): Promise<void>;
  /** Gives up the uploaded pictures, which no post uses any more. */
  releaseImagesOf(tx: Tx, userId: number): Promise<void>;
  /** Withdraws pending requests, ends accepted ones, and notifies the other sides. */
  closeRequestsOfStore(tx: Tx, storeId: number): Promise<void>;
  closeStore(tx: Tx, storeId: number): Promise<void>;
}

/**
 * Deletes what an account has outside the authentication domain, in the transaction that deletes the account: its posts are
 * deleted, its pending requests withdrawn and its accepted ones ended, and its store stays, closed and without contact details,
 * for the other side of its requests. The user and the store are locked first, as a suspension does, to avoid deadlocks; notifying
 * comes after all other statements that may wait for a lock.
 *
 * @returns `deleteAccountData(tx, userId)`
 */
export function createAccountDeletion(steps: AccountDeletionSteps) {
  return async function deleteAccountData(tx: Tx, userId: number): Promise<void> {
    const storeId = await steps.lockStore(tx, userId);
    await steps.deleteAnswersOf(tx, userId);
    if (storeId !== undefined) await steps.deletePostsOfStore(tx, storeId);
    await steps.releaseImagesOf(tx, userId);
    if (storeId === undefined) return;
    await steps.closeStore(tx, storeId);
    await steps.closeRequestsOfStore(tx, storeId);
  };
}
