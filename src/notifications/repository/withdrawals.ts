import type { Connection } from '../../database/client.ts';
import { Prisma } from '../../database/generated/client.ts';

/** A request that was withdrawn by itself, with who is on each side. */
export interface Withdrawal {
  id: number;
  sender_user_id: number | null;
  receiver_user_id: number | null;
}

/** Withdraws what waits for an answer of a post. */
export function withdrawOfPost(transaction: Connection, postId: number): Promise<Withdrawal[]> {
  return withdraw(transaction, Prisma.sql`post_id = ${postId}`);
}

/** Withdraws what waits for an answer and was sent or received by a store. */
export function withdrawOfStore(transaction: Connection, storeId: number): Promise<Withdrawal[]> {
  return withdraw(transaction, Prisma.sql`(sender_store_id = ${storeId} OR receiver_store_id = ${storeId})`);
}

/** Rows are locked in the order of their ids, so that two who withdraw at once never wait for each other in a circle. */
async function withdraw(transaction: Connection, which: Prisma.Sql): Promise<Withdrawal[]> {
  return transaction.$queryRaw<Withdrawal[]>`
    WITH pending AS (
      SELECT id FROM partner_requests WHERE status = 'requested' AND ${which} ORDER BY id FOR UPDATE
    ), withdrawn AS (
      UPDATE partner_requests r SET status = 'withdrawn', updated_at = now()
      FROM pending WHERE r.id = pending.id
      RETURNING r.id, r.sender_store_id, r.receiver_store_id
    )
    SELECT w.id, s.owner_id AS sender_user_id, v.owner_id AS receiver_user_id
    FROM withdrawn w
    JOIN stores s ON s.id = w.sender_store_id
    JOIN stores v ON v.id = w.receiver_store_id
    ORDER BY w.id`;
}
