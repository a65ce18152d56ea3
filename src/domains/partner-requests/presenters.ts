import { type InJson, toUtc } from '../../infrastructure/database/json-times.ts';
import type { ImageUrls } from '../images/index.ts';
import { partnerRequestStatuses, toPostSummary } from '../posts/index.ts';
import type { PartnerRow } from './repository/partners.ts';
import type { RequestDetailRow } from './repository/requests.ts';
import type { RequestRow, SentRequestRow } from './repository/rows.ts';
import type { Partner, PartnerRequest, PartnerRequestDetail, ReceivedPartnerRequest } from './schemas.ts';

/** A request as the API shows it to one of its sides. */
export function toPartnerRequest(row: SentRequestRow | InJson<SentRequestRow>): PartnerRequest;
export function toPartnerRequest(row: RequestRow): PartnerRequest | ReceivedPartnerRequest;
export function toPartnerRequest(row: RequestRow | InJson<SentRequestRow>) {
  const { id, postId, postTitle, status, message, createdAt, updatedAt } = row;
  const shared = {
    id,
    post_id: postId,
    post_title: postTitle,
    status: partnerRequestStatuses[status],
    message,
    created_at: toUtc(createdAt),
    updated_at: toUtc(updatedAt),
  };
  if (row.box === 'received') return { box: row.box, ...shared, sender_store: row.senderStore };
  const { box, receiverStoreId, receiverStoreName } = row;
  return { box, ...shared, receiver_store_id: receiverStoreId, receiver_store_name: receiverStoreName };
}

/** A request with all that the API shows of it to one of its sides. */
export function toPartnerRequestDetail(row: RequestDetailRow, imageUrls: ImageUrls): PartnerRequestDetail {
  const { post, senderStore, receiverStore, contact } = row;
  return {
    ...toPartnerRequest(row),
    post: post && toPostSummary(post, receiverStore, imageUrls),
    sender_store: senderStore,
    receiver_store: receiverStore,
    contact,
  };
}

export function toPartner({ id, createdAt, store, contact }: PartnerRow): Partner {
  return { store, contact, request_id: id, since: createdAt.toISOString() };
}
