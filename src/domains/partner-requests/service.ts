import { ApiError, httpErrors, retryLater } from '../../http/errors.ts';
import type { Config } from '../../infrastructure/config/config.ts';
import type { Database, Tx } from '../../infrastructure/database/client.ts';
import {
  type Idempotency,
  IdempotencyConflictError,
  type IdempotencyKey,
} from '../../infrastructure/database/idempotency.ts';
import type { Outbox } from '../../infrastructure/jobs/outbox.ts';
import type { MailQueue } from '../../infrastructure/mail/queue.ts';
import type { createNotifications } from '../notifications/index.ts';
import { postErrors } from '../posts/index.ts';
import { type PartnerRequestKind, partnerRequestKinds } from './kinds.ts';
import * as changes from './repository/changes.ts';
import { findDetail } from './repository/requests.ts';
import * as schemas from './schemas.ts';

const refusals = {
  store_required: postErrors.storeRequired,
  post_not_found: postErrors.postNotFound,
  own_post: schemas.partnerRequestErrors.ownPost,
  post_closed: schemas.partnerRequestErrors.postClosed,
  already_requested: schemas.partnerRequestErrors.alreadyRequested,
} as const;

export interface PartnerRequestServiceOptions {
  config: Pick<Config, 'quotas'>;
  database: Database;
  outbox: Outbox;
  mailQueue: MailQueue;
  idempotency: Idempotency;
  notifications: Pick<ReturnType<typeof createNotifications>, 'notify' | 'lockCounts'>;
}

export type PartnerRequestService = ReturnType<typeof createPartnerRequestService>;
/** Partner requests, with the notifications and emails that belong to a change in its transaction. */
export function createPartnerRequestService(options: PartnerRequestServiceOptions) {
  const { config, database, outbox, mailQueue, idempotency } = options;
  const { notify, lockCounts } = options.notifications;
  const quota = config.quotas.requestsPerDay;

  async function send(userId: number, request: schemas.NewPartnerRequest, key?: IdempotencyKey) {
    const { post_id: postId, message } = request;
    const stored = key && idempotency.stored(key);
    const mail = mailQueue.unrequested('partner_request_received');
    const sent = await changes.send(database, { userId, postId, message, quota, key: stored, mail });
    if (sent.refusal === null) {
      outbox.wake();
      return { data: schemas.toPartnerRequest(sent.request), replayedIn: sent.replayedIn };
    }
    if (sent.refusal === 'idempotency_key_reused') throw new IdempotencyConflictError();
    if (sent.refusal === 'quota_exceeded') throw retryLater(httpErrors.quotaExceeded, sent.wait);
    throw new ApiError(refusals[sent.refusal]);
  }

  /** @throws {ApiError} `partner_request_not_found`, also for a side that may not make the transition; `invalid_transition` */
  async function transition(userId: number, id: number, rule: changes.Transition) {
    const request = await database.transaction(async (tx) => {
      const changed = await changes.transition(tx, { id, userId, ...rule });
      // Null when the account of the other side was deleted.
      if (!changed || changed.otherUserId === null) return changed;
      const kind = `partner_request_${rule.to}` as const;
      const recipient = { kind, userId: changed.otherUserId, requestId: id };
      const isMailed =
        'cap' in partnerRequestKinds[kind] && changed.sentWithinHour <= changes.maxMailsPerHour;
      if (isMailed) await mail(tx, kind, [recipient]);
      await notify(tx, [recipient]);
      return changed;
    });
    if (request !== undefined) {
      const { otherUserId: _, sentWithinHour: __, ...shown } = request;
      return schemas.toPartnerRequest(shown);
    }
    const found = await findDetail(database, id, userId);
    const isAllowed = found && (rule.box === 'either' || rule.box === found.box);
    const { invalidTransition, partnerRequestNotFound } = schemas.partnerRequestErrors;
    throw new ApiError(isAllowed ? invalidTransition : partnerRequestNotFound);
  }

  const mail = (tx: Tx, kind: PartnerRequestKind, recipients: changes.Recipient[]) => {
    const mails = recipients.map(({ userId, requestId }) => ({ userId, payload: { request_id: requestId } }));
    return mailQueue.addUnrequestedToAll(tx, kind, mails);
  };

  /** Withdraws the pending requests for a post that was deleted in the same transaction, and notifies their senders. */
  async function withdrawRequestsOfPost(tx: Tx, postId: number): Promise<void> {
    await notify(tx, await changes.withdrawOfPost(tx, postId));
  }

  /** Withdraws and ends the requests of a store that is being closed. Partners get an email; all other sides are notified. */
  async function closeRequestsOfStore(tx: Tx, { id, ownerId }: { id: number; ownerId: number }) {
    const recipients = await changes.closeOfStore(tx, id);
    const ended = recipients.filter(({ kind }) => kind === 'partner_request_ended');
    const newest = new Map(ended.map((recipient) => [recipient.userId, recipient]));
    await mail(tx, 'partner_request_ended', [...newest.values()]);
    await lockCounts(tx, [ownerId, ...recipients.map(({ userId }) => userId)]);
    await notify(tx, recipients);
  }

  return { send, transition, withdrawRequestsOfPost, closeRequestsOfStore };
}
