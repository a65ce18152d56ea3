import type { ImageUrls } from '../images/index.ts';
import { partnerRequestStatuses } from '../posts/index.ts';
import type { PartnerRow } from './repository/partners.ts';
import type { RequestDetailRow } from './repository/requests.ts';
import type { ReceivedRequestRow, SentRequestRow } from './repository/rows.ts';
import type { PartnerRequestWithOwners } from './repository/transitions.ts';
import type { Partner, PartnerRequest, PartnerRequestDetail, ReceivedPartnerRequest } from './schemas.ts';

/** What the API shows of a request to both sides. */
function toRequest(row: SentRequestRow | ReceivedRequestRow) {
  return {
    id: row.id,
    post_id: row.postId,
    post_title: row.postTitle,
    status: partnerRequestStatuses[row.status],
    message: row.message,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}

/** A request as the API shows it to its sender. */
export function toPartnerRequest(row: SentRequestRow): PartnerRequest {
  const receiver = { receiver_store_id: row.receiverStoreId, receiver_store_name: row.receiverStoreName };
  return { box: 'sent', ...toRequest(row), ...receiver };
}

/** A request as the API shows it to its receiver. */
export function toReceivedPartnerRequest(row: ReceivedRequestRow): ReceivedPartnerRequest {
  return { box: 'received', ...toRequest(row), sender_store: row.senderStore };
}

/** A request as the API shows it to the user, who is one of its sides. */
export function toRequestOf(userId: number, row: PartnerRequestWithOwners) {
  return row.senderUserId === userId ? toPartnerRequest(row) : toReceivedPartnerRequest(row);
}

/** A request with all that the API shows of it to one of its sides. */
export function toPartnerRequestDetail(row: RequestDetailRow, imageUrls: ImageUrls): PartnerRequestDetail {
  const { post, senderStore, receiverStore, contact } = row;
  const details = {
    post: post && {
      id: row.postId,
      title: row.postTitle,
      thumbnail: imageUrls.thumbnailOf(post.firstImage ?? null, receiverStore),
      created_at: post.createdAt.toISOString(),
    },
    sender_store: senderStore,
    receiver_store: receiverStore,
    contact,
  };
  return row.box === 'sent'
    ? { ...toPartnerRequest(row), ...details }
    : { ...toReceivedPartnerRequest(row), ...details };
}

export function toPartner({ id, createdAt, store, contact }: PartnerRow): Partner {
  return { store, contact, request_id: id, since: createdAt.toISOString() };
}
