import type { Tx } from '../../database/client.ts';
import { serviceUnavailable } from '../../http/errors.ts';
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
  // Those of an unverified address may be another person's, who owns the address.
  if (account.isVerified) await emailCodes.revoke(tx, account.email);
  await passwordResets.revoke(tx, account.email);
  await deleteAccountData(tx, account.id);
  return accounts.remove(tx, account.id);
}

/**
 * Deletes an account by its id, as by its owner; the account is locked before it is looked at.
 *
 * @returns whether the account existed
 * @throws {ApiError} `service_unavailable` when its e-mail address was changed meanwhile, so that other codes are to be locked
 */
export async function removeAccountById(
  dependencies: AuthDependencies,
  tx: Tx,
  id: number,
): Promise<boolean> {
  const { accounts } = dependencies;
  const known = await accounts.findById(tx, id);
  if (known === null) return false;
  await lockWithoutStore(dependencies, tx, known);
  const account = await accounts.findById(tx, id);
  if (account === null) return false;
  if (account.email !== known.email) {
    throw serviceUnavailable(new Error('the e-mail address of the account was changed meanwhile'), 1);
  }
  return removeAccount(dependencies, tx, account);
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
  { id, email }: Pick<RemovableAccount, 'id' | 'email'>,
): Promise<boolean> {
  await emailCodes.lock(tx, [email]);
  await passwordResets.lock(tx, email);
  return (await lockStore(tx, id)) === undefined;
}
