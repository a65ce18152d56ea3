import type { Tx } from '../../database/client.ts';
import type { AuthDependencies } from '../dependencies.ts';

/** An account that is deleted. */
export interface RemovableAccount {
  id: number;
  email: string;
  isVerified: boolean;
}

/**
 * Deletes an account with everything that only it has; its username and e-mail address are free again. Codes and links are
 * locked before stores and users, as where they are used, to avoid deadlocks.
 *
 * @returns whether the account existed
 */
export async function removeAccount(
  { emailCodes, passwordResets, accounts, deleteAccountData }: AuthDependencies,
  tx: Tx,
  account: RemovableAccount,
): Promise<boolean> {
  await emailCodes.revoke(tx, account);
  await passwordResets.revoke(tx, account.email);
  await deleteAccountData(tx, account.id);
  return accounts.remove(tx, account.id);
}

/**
 * Deletes the unverified account without a store that has an address, if there is one.
 *
 * @returns its id; undefined when nothing was deleted
 */
export async function removeUnverified(
  dependencies: AuthDependencies,
  tx: Tx,
  email: string,
): Promise<number | undefined> {
  const { accounts, unverifiedAccounts } = dependencies;
  const account = await accounts.findByEmail(tx, email);
  if (account === null || account.isVerified) return undefined;
  const isLocked = await lockWithoutStore(dependencies, tx, account);
  if (!isLocked || !(await unverifiedAccounts.exists(tx, account))) return undefined;
  return (await removeAccount(dependencies, tx, account)) ? account.id : undefined;
}

/**
 * Locks what {@link removeAccount} will lock, in its order, so that the account can be looked at before anything changes.
 *
 * @returns false when the account has a store; otherwise it gets none before the transaction ends
 */
export async function lockWithoutStore(
  { emailCodes, passwordResets, lockStore }: AuthDependencies,
  tx: Tx,
  { id, email }: RemovableAccount,
): Promise<boolean> {
  await emailCodes.lock(tx, [email]);
  await passwordResets.lock(tx, email);
  return (await lockStore(tx, id)) === undefined;
}
