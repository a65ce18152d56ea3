import type { Queryable } from '../database/client.ts';
import type { PartnerRequestStatus } from '../database/generated/enums.ts';
import { raw, type Sql, sql } from '../database/sql.ts';
import { countOfLastHourSql } from './request-quota.ts';
import type { ReceivedRequestRow, SentRequestRow } from './rows.ts';
import { bothSidesColumns } from './sql.ts';

/** A request with the owners of both stores; null where the account is gone. */
export interface PartnerRequestWithOwners extends SentRequestRow, ReceivedRequestRow {
  sender_user_id: number | null;
  receiver_user_id: number | null;
  /** Requests that the sender has sent for the post within an hour, in whatever state they are now. */
  sent_within_hour: number;
}

/** Who may make a transition. */
export type Side = 'sender' | 'receiver' | 'either';

/** A request, and the user who must be on a side of it. */
interface Participant {
  id: number;
  userId: number;
  side: Side;
}

/**
 * Moves a request to another state. One conditional update, so that of concurrent transitions one succeeds.
 *
 * @returns undefined when the user has no such request on that side, it is not in the state `from`, or a store that is hidden
 *   would accept it
 */
export async function transition(
  tx: Queryable,
  { id, userId, side }: Participant,
  from: PartnerRequestStatus,
  to: PartnerRequestStatus,
): Promise<PartnerRequestWithOwners | undefined> {
  const [row] = await tx.query<PartnerRequestWithOwners>(sql`
    WITH changed AS (
      UPDATE partner_requests r SET status = ${to}::partner_request_status, updated_at = now()
      FROM stores own
      WHERE r.id = ${id} AND r.status = ${from}::partner_request_status
        AND own.id IN (${storesOf(side)}) AND own.owner_id = ${userId}
        AND (own.suspended_at IS NULL OR ${to} <> 'accepted')
      RETURNING r.*
    )
    SELECT ${bothSidesColumns},
      (SELECT owner_id FROM stores WHERE id = r.sender_store_id) AS sender_user_id,
      (SELECT owner_id FROM stores WHERE id = r.receiver_store_id) AS receiver_user_id,
      ${countOfLastHourSql(sql`r.sender_store_id`, sql`r.post_id`)} AS sent_within_hour
    FROM changed r`);
  return row;
}

/** Whether the user is on that side of a request, in any state. */
export async function isParticipant(
  connection: Queryable,
  { id, userId, side }: Participant,
): Promise<boolean> {
  const rows = await connection.query<{ id: number }>(sql`
    SELECT r.id FROM partner_requests r JOIN stores own ON own.id IN (${storesOf(side)})
    WHERE r.id = ${id} AND own.owner_id = ${userId}`);
  return rows.length > 0;
}

function storesOf(side: Side): Sql {
  const columns = { sender: 'r.sender_store_id', receiver: 'r.receiver_store_id' };
  return raw(side === 'either' ? `${columns.sender}, ${columns.receiver}` : columns[side]);
}
