import type { Connection } from '../../database/client.ts';
import type { NotificationDependencies } from '../dependencies.ts';
import { closeStore, deleteIdempotencyKeys, deletePosts, holdStore } from '../repository/closing.ts';
import type { Recipient } from '../repository/notifications.ts';
import { type Withdrawal, withdrawOfPost, withdrawOfStore } from '../repository/withdrawals.ts';

/** What happens to pending requests when what they are about goes away. Other domains call it in their transactions. */
export function createWithdrawals({ notifications }: Pick<NotificationDependencies, 'notifications'>) {
  /** Withdraws the pending requests for a post that was deleted in the same transaction, and tells their senders. */
  async function withdrawRequestsOfPost(transaction: Connection, postId: number): Promise<void> {
    const withdrawals = await withdrawOfPost(transaction, postId);
    await tell(
      transaction,
      withdrawals.map(({ id, sender_user_id }) => [id, sender_user_id]),
    );
  }

  /**
   * Closes what an account has, before the account is removed in the same transaction: its posts are deleted, its pending
   * requests are withdrawn and the other sides told, its store stays without an owner and without contact details.
   */
  async function closeAccount(transaction: Connection, userId: number): Promise<void> {
    const storeId = await holdStore(transaction, userId);
    await deleteIdempotencyKeys(transaction, userId);
    if (storeId === undefined) return;
    await deletePosts(transaction, storeId);
    const withdrawals = await withdrawOfStore(transaction, storeId);
    await closeStore(transaction, storeId);
    await tell(
      transaction,
      withdrawals.map((withdrawal) => [withdrawal.id, otherSide(withdrawal, userId)]),
    );
  }

  async function tell(transaction: Connection, told: [requestId: number, userId: number | null][]) {
    const recipients = told.flatMap(([requestId, userId]): Recipient[] =>
      userId === null ? [] : [{ userId, requestId }],
    );
    await notifications.add(transaction, 'partner_request_withdrawn', recipients);
  }

  return { withdrawRequestsOfPost, closeAccount };
}

function otherSide({ sender_user_id, receiver_user_id }: Withdrawal, userId: number): number | null {
  return sender_user_id === userId ? receiver_user_id : sender_user_id;
}
