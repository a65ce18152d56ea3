import type { ReceivedRequestRow, SentRequestRow } from './repository.ts';
import { type PartnerRequest, partnerRequestStatuses, type ReceivedPartnerRequest } from './schemas.ts';

/** A request as the API shows it to its sender. */
export function toPartnerRequest(row: SentRequestRow): PartnerRequest {
  return {
    box: 'sent',
    id: row.id,
    post_id: row.post_id,
    receiver_store_name: row.receiver_store_name,
    status: partnerRequestStatuses[row.status],
    message: row.message,
    created_at: row.created_at.toISOString(),
  };
}

/** A request as the API shows it to its receiver. */
export function toReceivedPartnerRequest(row: ReceivedRequestRow): ReceivedPartnerRequest {
  return {
    box: 'received',
    id: row.id,
    post_id: row.post_id,
    post_title: row.post_title,
    sender_store: row.sender_store,
    status: partnerRequestStatuses[row.status],
    message: row.message,
    created_at: row.created_at.toISOString(),
  };
}
