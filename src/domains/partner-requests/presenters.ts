import type { ImageUrls } from '../images/index.ts';
import { partnerRequestStatuses } from '../posts/index.ts';
import type { PartnerRow } from './repository/partners.ts';
import type { RequestDetailRow } from './repository/requests.ts';
import type { RequestRow, SentRequestRow } from './repository/rows.ts';
import type { Partner, PartnerRequest, PartnerRequestDetail, ReceivedPartnerRequest } from './schemas.ts';

/** A request as the API shows it to one of its sides. */
export function toPartnerRequest(row: SentRequestRow): PartnerRequest;
export function toPartnerRequest(row: RequestRow): PartnerRequest | ReceivedPartnerRequest;
export function toPartnerRequest(row: RequestRow) {
  return {
    ...row,
    status: partnerRequestStatuses[row.status],
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

/** A request with all that the API shows of it to one of its sides. */
export function toPartnerRequestDetail(row: RequestDetailRow, imageUrls: ImageUrls): PartnerRequestDetail {
  const { post, sender_store, receiver_store, contact } = row;
  return {
    ...toPartnerRequest(row),
    post: post && {
      ...post,
      thumbnail: imageUrls.thumbnailOf(post.first_image, receiver_store),
      created_at: post.created_at.toISOString(),
    },
    sender_store,
    receiver_store,
    contact,
  };
}

export function toPartner({ id, createdAt, store, contact }: PartnerRow): Partner {
  return { store, contact, request_id: id, since: createdAt.toISOString() };
}
