import type { Queryable } from '../database/client.ts';
import { sql } from '../database/sql.ts';
import type { StoreSummary } from '../stores/schemas.ts';
import { isOpenStore, storeSummarySql } from '../stores/sql.ts';
import type { Contact } from './partner-schemas.ts';
import type { ReceivedRequestRow, SentRequestRow } from './rows.ts';
import { bothSidesColumns, contactSql } from './sql.ts';

/** A request with all that one of its sides sees of it. */
export interface RequestDetailRow extends SentRequestRow, ReceivedRequestRow {
  /** On which side the user is. */
  box: 'sent' | 'received';
  receiver_store: StoreSummary;
  /** False when the post was deleted or is hidden with its store. */
  post_exists: boolean;
  first_image: string | null;
  post_created_at: Date;
  /** Null unless the request is accepted and the other store is open. */
  contact: Contact | null;
}

/** A request of a user's store. @returns undefined for everyone but its two sides */
export async function findDetail(
  database: Queryable,
  id: number,
  userId: number,
): Promise<RequestDetailRow | undefined> {
  const [row] = await database.query<RequestDetailRow>(sql`
    SELECT ${bothSidesColumns},
      CASE own.id WHEN r.sender_store_id THEN 'sent' ELSE 'received' END AS box,
      (SELECT ${storeSummarySql} FROM stores s WHERE s.id = r.receiver_store_id) AS receiver_store,
      p.deleted_at IS NULL AND (SELECT ${isOpenStore('s')} FROM stores s WHERE s.id = p.store_id) AS post_exists,
      p.images[1] AS first_image, p.created_at AS post_created_at,
      CASE WHEN r.status = 'accepted' AND own.suspended_at IS NULL THEN ${contactSql} END AS contact
    FROM partner_requests r
    JOIN stores own ON own.id IN (r.sender_store_id, r.receiver_store_id) AND own.owner_id = ${userId}
    JOIN stores o ON o.id = CASE own.id WHEN r.sender_store_id THEN r.receiver_store_id ELSE r.sender_store_id END
    LEFT JOIN users u ON u.id = o.owner_id
    JOIN posts p ON p.id = r.post_id
    WHERE r.id = ${id}`);
  return row;
}
