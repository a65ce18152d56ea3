import type { Tx } from '../../../infrastructure/database/client.ts';
import type { PartnerRequestStatus } from '../../../infrastructure/database/generated/enums.ts';
import type { StoredKey } from '../../../infrastructure/database/idempotency.ts';
import { join, raw, type Sql, sql } from '../../../infrastructure/database/sql.ts';
import type { MailQueue } from '../../../infrastructure/mail/queue.ts';
import type { InJson } from '../../../infrastructure/times.ts';
import type { PartnerRequestKind } from '../kinds.ts';
import * as requests from './requests.ts';

interface NewRequest {
  userId: number;
  postId: number;
  message: string;
  /** Requests a day of a store; 0: neither this quota nor that of a post. */
  quota: number;
  key: StoredKey | undefined;
  mail: ReturnType<MailQueue['unrequested']>;
}

type Sent =
  | { refusal: null; request: InJson<requests.SentRequestRow>; replayedIn: string | null }
  | { refusal: 'quota_exceeded'; wait: number }
  | { refusal: 'idempotency_key_reused' }
  | { refusal: 'store_required' | 'post_not_found' | 'own_post' | 'post_closed' | 'already_requested' };

/** A change of the status of a request; the trigger `partner_requests_transition` rejects any other. */
export interface Transition {
  /** In which the user who makes it must have the request. */
  box: requests.RequestRow['box'] | 'either';
  from: PartnerRequestStatus;
  to: Exclude<PartnerRequestStatus, 'requested'>;
}

/** A request as the user who changed it sees it. */
type ChangedRequest = requests.RequestRow & {
  /** The owner of the other store; null where the account is gone. */
  otherUserId: number | null;
  /** Requests that the sender has sent for the post within an hour, in whatever state they are now. */
  sentWithinHour: number;
};

/** Who is notified of a change, and of which request. */
export interface Recipient {
  kind: PartnerRequestKind;
  userId: number;
  requestId: number;
}

const pending = raw(`status = 'requested'`);
const accepted = raw(`status = 'accepted'`);
const open = raw(`status IN ('requested', 'accepted')`);

/** Requests a day of one store for one post; asking, withdrawing and asking again notifies the receiver each time. */
const requestsPerPost = 5;
/** Emails per hour about the requests of one store for one post, so that requesting and declining in a loop sends few. */
export const maxMailsPerHour = 5;

/** Sends a request with its notification and email: the function `send_partner_request`. The caller wakes the outbox. */
export async function send(database: Tx, { userId, postId, message, quota, key, mail }: NewRequest) {
  const [row] = await database.query<Sent>(sql`/* partner-requests.send */
    SELECT refusal, wait, request, replayed_in AS "replayedIn"
    FROM send_partner_request(${key?.scope ?? null}::text, ${key?.key ?? null}::text, ${key?.hashes ?? []}::text[],
      ${key?.language ?? null}::text, ${userId}::int, ${postId}::bigint, ${message}::text, ${quota}::int,
      ${requestsPerPost}::int, ${mail.mail}, ${mail.perHour}::int, ${maxMailsPerHour}::int)`);
  if (row === undefined) throw new Error('a function returns one row');
  return row;
}

/** Moves a request to another state, of concurrent transitions one. @returns undefined where that is not allowed */
export async function transition(
  tx: Tx,
  { id, userId, box, from, to }: Transition & { id: number; userId: number },
) {
  const ownStores = { sent: 'r.sender_store_id', received: 'r.receiver_store_id' };
  const own = raw(box === 'either' ? Object.values(ownStores).join() : ownStores[box]);
  const [row] = await tx.query<ChangedRequest>(sql`/* partner-requests.transition */
    WITH changed AS (
      UPDATE partner_requests r SET status = ${to}::partner_request_status, updated_at = now()
      FROM stores own
      WHERE r.id = ${id} AND r.status = ${from}::partner_request_status
        AND own.id IN (${own}) AND own.owner_id = ${userId}
        AND (own.suspended_at IS NULL OR ${to} <> 'accepted')
      RETURNING r.*, own.id = r.sender_store_id AS is_sender
    )
    SELECT CASE WHEN is_sender THEN 'sent' ELSE 'received' END AS box, ${requests.requestColumns}, ${requests.receiverColumns}, ${requests.senderColumn},
      (SELECT owner_id FROM stores
        WHERE id = CASE WHEN is_sender THEN r.receiver_store_id ELSE r.sender_store_id END) AS "otherUserId", (
        SELECT count(*)::int FROM partner_requests
        WHERE sender_store_id = r.sender_store_id AND post_id = r.post_id AND created_at > now() - interval '1 hour'
      ) AS "sentWithinHour"
    FROM changed r`);
  return row;
}

/** Withdraws the pending requests for a post; accepted ones stay. @returns their senders */
export function withdrawOfPost(tx: Tx, postId: number): Promise<Recipient[]> {
  const ids = idsWhere(sql`post_id = ${postId} AND ${pending}`);
  return close(tx, { states: pending, ids, notifiedStore: sql`c.sender_store_id` });
}

/** Withdraws the pending requests that a store sent or received, and ends the accepted ones. @returns the other sides */
export function closeOfStore(tx: Tx, storeId: number): Promise<Recipient[]> {
  // Not `OR`, for which the requests of all stores may be read, and not `IN`, for which those of the store in all states are.
  const ids = [sql`sender_store_id = ${storeId}`, sql`receiver_store_id = ${storeId}`].flatMap((ofStore) =>
    [pending, accepted].map((state) => idsWhere(sql`${ofStore} AND ${state}`)),
  );
  const notifiedStore = sql`CASE c.sender_store_id WHEN ${storeId} THEN c.receiver_store_id ELSE c.sender_store_id END`;
  return close(tx, { states: open, ids: join(ids, ' UNION ALL '), notifiedStore });
}

const idsWhere = (condition: Sql) => sql`SELECT id FROM partner_requests WHERE ${condition}`;

/**
 * Withdraws pending requests and ends accepted ones. Rows are locked in id order to avoid deadlocks, and updated and looked up by
 * their ids, because a join may read all requests and stores. A request that another transaction accepts meanwhile is waited for.
 *
 * @param requests `states` they must have once they are locked, a query for their `ids`, and the store of `c` that is notified
 */
function close(tx: Tx, { states, ids, notifiedStore }: Record<'states' | 'ids' | 'notifiedStore', Sql>) {
  return tx.query<Recipient>(sql`/* partner-requests.close */
    WITH locked AS (
      SELECT id FROM partner_requests WHERE id = ANY (ARRAY(${ids})) AND ${states} ORDER BY id FOR UPDATE
    ), closed AS (
      UPDATE partner_requests SET updated_at = now(),
        status = CASE status WHEN 'requested' THEN 'withdrawn'::partner_request_status ELSE 'ended' END
      WHERE id = ANY (ARRAY(SELECT id FROM locked))
      RETURNING id, status, sender_store_id, receiver_store_id
    ), notified AS (
      SELECT 'partner_request_' || c.status AS kind, (SELECT owner_id FROM stores WHERE id = ${notifiedStore}) AS "userId",
        c.id AS "requestId"
      FROM closed c
    )
    SELECT kind, "userId", "requestId" FROM notified WHERE "userId" IS NOT NULL ORDER BY "requestId"`);
}
