import type { ImageUrls } from '../images/image-urls.ts';
import type { Partner, PartnerRequestDetail } from './partner-schemas.ts';
import type { PartnerRow } from './partners.ts';
import type { RequestDetailRow } from './request-details.ts';
import type { ReceivedRequestRow, SentRequestRow } from './rows.ts';
import { type PartnerRequest, partnerRequestStatuses, type ReceivedPartnerRequest } from './schemas.ts';
import type { PartnerRequestWithOwners } from './transitions.ts';

/** A request as the API shows it to its sender. */
export function toPartnerRequest(row: SentRequestRow): PartnerRequest {
  return {
    box: 'sent',
    id: row.id,
    post_id: row.post_id,
    post_title: row.post_title,
    receiver_store_id: row.receiver_store_id,
    receiver_store_name: row.receiver_store_name,
    status: partnerRequestStatuses[row.status],
    message: row.message,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
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
    updated_at: row.updated_at.toISOString(),
  };
}

/** A request as the API shows it to the user, who is one of its sides. */
export function toRequestOf(
  userId: number,
  row: PartnerRequestWithOwners,
): PartnerRequest | ReceivedPartnerRequest {
  return row.sender_user_id === userId ? toPartnerRequest(row) : toReceivedPartnerRequest(row);
}

/** A request with all that the API shows of it to one of its sides. */
export function toPartnerRequestDetail(row: RequestDetailRow, imageUrls: ImageUrls): PartnerRequestDetail {
  const details = {
    post: row.post_exists
      ? {
          id: row.post_id,
          title: row.post_title,
          thumbnail: imageUrls.thumbnailOf(row.first_image, row.receiver_store),
          created_at: row.post_created_at.toISOString(),
        }
      : null,
    sender_store: row.sender_store,
    receiver_store: row.receiver_store,
    contact: row.contact,
  };
  return row.box === 'sent'
    ? { ...toPartnerRequest(row), ...details }
    : { ...toReceivedPartnerRequest(row), ...details };
}

/** A partner as the API shows it. */
export function toPartner({ id, created_at, store, contact }: PartnerRow): Partner {
  return { store, contact, request_id: id, since: created_at.toISOString() };
}
