import type { Config } from '../config/config.ts';
import type { Database, Queryable } from '../database/client.ts';
import type { NotificationKind } from '../database/generated/enums.ts';
import { ApiError, httpErrors, retryLater } from '../http/errors.ts';
import type { Idempotency, IdempotencyKey, Outcome } from '../http/idempotency.ts';
import type { MailQueue } from '../mail/queue.ts';
import { postErrors } from '../posts/errors.ts';
import type { ClosedRequest } from './automatic-transitions.ts';
import { partnerRequestErrors } from './errors.ts';
import { toPartnerRequest } from './presenters.ts';
import type { PartnerRequests } from './repository.ts';
import type { NewPartnerRequest, PartnerRequest } from './schemas.ts';
import type { PartnerRequestWithOwners } from './transitions.ts';

/** The transitions of a request: which side may make them, and what the other side gets. */
const transitions = {
  accept: {
    side: 'receiver',
    from: 'requested',
    to: 'accepted',
    kind: 'partner_request_accepted',
    mailed: true,
  },
  decline: {
    side: 'receiver',
    from: 'requested',
    to: 'declined',
    kind: 'partner_request_declined',
    mailed: true,
  },
  withdraw: {
    side: 'sender',
    from: 'requested',
    to: 'withdrawn',
    kind: 'partner_request_withdrawn',
    mailed: false,
  },
  end: { side: 'either', from: 'accepted', to: 'ended', kind: 'partner_request_ended', mailed: true },
} as const;

/** What the other side is notified of when a post or an account was deleted. */
const kindsOfClosed = { withdrawn: 'partner_request_withdrawn', ended: 'partner_request_ended' } as const;

/** Mails per hour about the requests of one store for one post, so that requesting and declining in a loop sends few. */
const maxMailsPerHour = 5;

/** A notification to add: a user is notified about a request. */
interface Recipient {
  kind: NotificationKind;
  userId: number;
  requestId: number;
}

export interface PartnerRequestServiceOptions {
  config: Pick<Config, 'quotas'>;
  database: Database;
  mailQueue: MailQueue;
  idempotency: Idempotency;
  partnerRequests: PartnerRequests;
  /** Adds notifications; the last statement of a transaction. */
  notify(tx: Queryable, recipients: Recipient[]): Promise<void>;
}

/** Partner requests, with the notifications and mails that belong to a change in its transaction. */
export function createPartnerRequestService(options: PartnerRequestServiceOptions) {
  const quota = options.config.quotas.requestsPerDay;
  const { database, mailQueue, idempotency, partnerRequests, notify } = options;

  /**
   * Sends a request to the store that wrote a post.
   *
   * @throws {ApiError} `store_required`, `post_not_found`, `own_post`, `already_requested`, `quota_exceeded`
   */
  async function send(
    userId: number,
    { post_id: postId, message }: NewPartnerRequest,
    key: IdempotencyKey | undefined,
  ): Promise<Outcome<PartnerRequest>> {
    return idempotency.runStatements(key, async (tx) => {
      const { sender, receiver, receiverUserId } = await lockParticipants(tx, userId, postId);
      if (sender === receiver) throw new ApiError(partnerRequestErrors.ownPost);
      const request = await partnerRequests.create(tx, { postId, sender, receiver, message }, quota);
      if (request === undefined) throw await notCreatable(tx, sender, postId);
      const kind = 'partner_request_received';
      const recipient = { kind, userId: receiverUserId, requestId: request.id } as const;
      await inform(tx, recipient, request.sent_within_hour);
      return toPartnerRequest(request);
    });
  }

  /** Locks the user's store, the post and its store until the transaction ends. */
  async function lockParticipants(tx: Queryable, userId: number, postId: number) {
    const { sender, receiver, senderExists, receiverUserId, postExists } =
      await partnerRequests.lockParticipants(tx, userId, postId);
    if (sender === null) throw new ApiError(postErrors.storeRequired);
    if (receiver === null) throw new ApiError(postErrors.postNotFound);
    if (!senderExists) throw new ApiError(postErrors.storeRequired);
    if (receiverUserId === null || !postExists) throw new ApiError(postErrors.postNotFound);
    return { sender, receiver, receiverUserId };
  }

  async function notCreatable(tx: Queryable, sender: number, postId: number): Promise<ApiError> {
    const seconds = await partnerRequests.secondsUntilRoom(tx, sender, postId, quota);
    return seconds === undefined
      ? new ApiError(partnerRequestErrors.alreadyRequested)
      : retryLater(httpErrors.quotaExceeded, seconds);
  }

  /**
   * Accepts, declines, withdraws or ends a request.
   *
   * @throws {ApiError} `partner_request_not_found`, also for a side that may not make the transition; `invalid_transition`
   */
  async function transition(
    name: keyof typeof transitions,
    userId: number,
    id: number,
  ): Promise<PartnerRequestWithOwners> {
    const { side, from, to, kind, mailed } = transitions[name];
    return database.runStatements(async (tx) => {
      const request = await partnerRequests.transition(tx, { id, userId, side }, from, to);
      if (request === undefined) {
        const exists = await partnerRequests.isParticipant(tx, { id, userId, side });
        const { invalidTransition, partnerRequestNotFound } = partnerRequestErrors;
        throw new ApiError(exists ? invalidTransition : partnerRequestNotFound);
      }
      const isSender = request.sender_user_id === userId;
      const otherSide = isSender ? request.receiver_user_id : request.sender_user_id;
      // The account of the other side was deleted.
      if (otherSide === null) return request;
      const recipient = { kind, userId: otherSide, requestId: id };
      await inform(tx, recipient, mailed ? request.sent_within_hour : undefined);
      return request;
    });
  }

  /**
   * Notifies a user, and enqueues a mail unless the store has sent too many requests for the post.
   *
   * @param sentWithinHour undefined: no mail
   */
  async function inform(
    tx: Queryable,
    recipient: Recipient,
    sentWithinHour: number | undefined,
  ): Promise<void> {
    const { kind, userId, requestId } = recipient;
    const isMailed = sentWithinHour !== undefined && sentWithinHour <= maxMailsPerHour;
    const mail = { purpose: 'partner_request', kind, userId, payload: { request_id: requestId } } as const;
    if (isMailed) await mailQueue.addUnrequested(tx, mail);
    await notify(tx, [recipient]);
  }

  /** Withdraws the pending requests for a post that was deleted in the same transaction, and notifies their senders. */
  async function withdrawRequestsOfPost(tx: Queryable, postId: number): Promise<void> {
    await notifyOfClosed(tx, await partnerRequests.withdrawOfPost(tx, postId));
  }

  /**
   * Withdraws the pending requests of a store that is being closed and ends the accepted ones. Notifies the other sides, and
   * enqueues a mail to each of those that lose a partner.
   */
  async function closeRequestsOfStore(tx: Queryable, storeId: number): Promise<void> {
    const closed = await partnerRequests.closeOfStore(tx, storeId);
    const ended = closed.filter(({ status }) => status === 'ended');
    const newest = new Map(ended.map(({ userId, requestId }) => [userId, requestId]));
    // In the order of the users, to avoid deadlocks at the caps of their addresses.
    for (const [userId, requestId] of [...newest].sort(([a], [b]) => a - b)) {
      const payload = { request_id: requestId };
      const kind = 'partner_request_ended';
      await mailQueue.addUnrequested(tx, { purpose: 'partner_request', kind, userId, payload });
    }
    await notifyOfClosed(tx, closed);
  }

  async function notifyOfClosed(tx: Queryable, requests: ClosedRequest[]): Promise<void> {
    await notify(
      tx,
      requests.map(({ status, ...recipient }) => ({ kind: kindsOfClosed[status], ...recipient })),
    );
  }

  return { send, transition, withdrawRequestsOfPost, closeRequestsOfStore };
}
