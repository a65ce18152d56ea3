import type { Connection } from '../../database/client.ts';
import { ApiError } from '../../http/errors.ts';
import type { Transaction } from '../../http/idempotency.ts';
import { postErrors } from '../../posts/errors.ts';
import type { NotificationDependencies } from '../dependencies.ts';
import { notificationErrors } from '../errors.ts';
import { type RequestOfTwo, toPartnerRequest } from '../repository/partner-requests.ts';
import type { NewPartnerRequest, PartnerRequest } from '../schemas.ts';

/** What a user can do with a pending request: who may, what it becomes, and how the other side hears of it. */
const actions = {
  accept: { side: 'receiver', status: 'accepted', kind: 'partner_request_accepted', mailed: true },
  decline: { side: 'receiver', status: 'declined', kind: 'partner_request_declined', mailed: true },
  withdraw: { side: 'sender', status: 'withdrawn', kind: 'partner_request_withdrawn', mailed: false },
} as const;

/** Who asks, withdraws and declines in a loop shall not fill a mailbox: about one store and post as many as codes, and so many in all. */
const mailsPerHour = { aboutOne: 5, inAll: 60 };

export type PartnerRequestAction = keyof typeof actions;

/** Partnership requests, with the notifications and mails that go with each change in one transaction. */
export function createPartnerRequestService(dependencies: NotificationDependencies) {
  const { database, mailQueue, partnerRequests, notifications } = dependencies;

  /**
   * Sends a request to the store that wrote a post.
   *
   * @param transaction runs the change; with an idempotency key it gives the first answer again
   * @throws {ApiError} `store_required`, `post_not_found`, `own_post`, `already_requested`
   */
  async function send(
    transaction: Transaction,
    userId: number,
    { post_id: postId, message }: NewPartnerRequest,
  ): Promise<PartnerRequest> {
    return transaction(async (tx) => {
      const { sender, receiver, receiverUserId } = await holdSides(tx, userId, postId);
      if (sender === receiver) throw new ApiError(notificationErrors.ownPost);
      const request = await partnerRequests.create(tx, { postId, sender, receiver, message });
      if (request === undefined) throw new ApiError(notificationErrors.alreadyRequested);
      if (await mayMail(tx, receiverUserId, sender, postId)) {
        await mailQueue.add(tx, 'partner_request_received', { request_id: request.id });
      }
      await notifications.add(tx, 'partner_request_received', [
        { userId: receiverUserId, requestId: request.id },
      ]);
      return toPartnerRequest(request);
    });
  }

  /** The user's store and the post's, kept as they are until the transaction ends. */
  async function holdSides(tx: Connection, userId: number, postId: number) {
    const { sender, receiver } = await partnerRequests.findSides(tx, userId, postId);
    if (sender === null) throw new ApiError(postErrors.storeRequired);
    if (receiver === null) throw new ApiError(postErrors.postNotFound);
    const { stores, hasPost } = await partnerRequests.holdOpen(tx, [sender, receiver], postId);
    if (!stores.some(({ id }) => id === sender)) throw new ApiError(postErrors.storeRequired);
    const receiverUserId = stores.find(({ id }) => id === receiver)?.owner_id;
    if (receiverUserId === undefined || !hasPost) throw new ApiError(postErrors.postNotFound);
    return { sender, receiver, receiverUserId };
  }

  /**
   * Answers or withdraws a request.
   *
   * @throws {ApiError} `partner_request_not_found` also for who is on the other side; `invalid_transition`
   */
  async function act(action: PartnerRequestAction, userId: number, id: number): Promise<RequestOfTwo> {
    const { side, status, kind, mailed } = actions[action];
    return database.transaction(async (tx) => {
      const request = await partnerRequests.change(tx, { id, userId, side, status });
      if (request === undefined) {
        const exists = await partnerRequests.isOn(tx, { id, userId, side });
        throw new ApiError(
          exists ? notificationErrors.invalidTransition : notificationErrors.partnerRequestNotFound,
        );
      }
      const other = side === 'sender' ? request.receiver_user_id : request.sender_user_id;
      // The account on the other side is gone.
      if (other === null) return request;
      if (mailed && (await mayMail(tx, other, request.sender_store.id, request.post_id))) {
        await mailQueue.add(tx, kind, { request_id: id });
      }
      await notifications.add(tx, kind, [{ userId: other, requestId: id }]);
      return request;
    });
  }

  async function mayMail(tx: Connection, userId: number, sender: number, postId: number): Promise<boolean> {
    if ((await partnerRequests.countOfLastHour(tx, { sender, postId })) > mailsPerHour.aboutOne) return false;
    return (await notifications.countOfLastHour(tx, userId)) < mailsPerHour.inAll;
  }

  return { send, act };
}
