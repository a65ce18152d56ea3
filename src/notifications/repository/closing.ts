import type { Connection } from '../../database/client.ts';

/**
 * Keeps the store of a user to this transaction: nobody writes a post in it or sends a request from it or to it any more, and
 * who just does is waited for.
 *
 * @returns undefined when the user has no store, and gets none before the transaction ends
 */
export async function holdStore(transaction: Connection, userId: number): Promise<number | undefined> {
  const storeId = await lockStore(transaction, userId);
  if (storeId !== undefined) return storeId;
  // A store that is being registered refers to the user's row already.
  await transaction.$queryRaw`SELECT FROM users WHERE id = ${userId} FOR UPDATE`;
  return lockStore(transaction, userId);
}

async function lockStore(transaction: Connection, userId: number): Promise<number | undefined> {
  const [store] = await transaction.$queryRaw<{ id: number }[]>`
    SELECT id FROM stores WHERE owner_id = ${userId} FOR UPDATE`;
  return store?.id;
}

/** Deletes the posts of a store; their titles stay for the requests that answer them. */
export async function deletePosts(transaction: Connection, storeId: number): Promise<void> {
  await transaction.$executeRaw`
    UPDATE posts SET deleted_at = now(), content = '', images = '{}' WHERE store_id = ${storeId} AND deleted_at IS NULL`;
}

/** Closes a store. Its name stays, for the other side of its requests; how to reach it does not. */
export async function closeStore(transaction: Connection, storeId: number): Promise<void> {
  await transaction.$executeRaw`
    UPDATE stores
    SET closed_at = now(), updated_at = now(), description = '', address = '', phone_number = '', business_hours = ''
    WHERE id = ${storeId}`;
}

/** Forgets the first answers to a user's requests, and to the sign-up. */
export async function deleteIdempotencyKeys(transaction: Connection, userId: number): Promise<void> {
  await transaction.$executeRaw`
    DELETE FROM idempotency_keys WHERE scope LIKE ${`${userId}:%`}
      OR scope = 'anonymous:signUp' AND body #>> '{data,id}' = ${String(userId)}`;
}
