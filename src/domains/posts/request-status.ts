import type { Static } from '@sinclair/typebox';
import { NamedEnum } from '../../http/schemas.ts';
import { PartnerRequestStatus as PartnerRequestState } from '../../infrastructure/database/generated/enums.ts';
import { type Sql, sql } from '../../infrastructure/database/sql.ts';

/* The status of a partner request. It is a part of posts, which show the status of the reader's newest request. */

/** The status that the API shows for each state in the database. */
export const partnerRequestStatuses = {
  requested: '요청됨',
  accepted: '수락됨',
  declined: '거절됨',
  withdrawn: '취소됨',
  ended: '종료됨',
} as const satisfies Record<PartnerRequestState, string>;

/** The state in the database for a status of the API. */
export function stateOfStatus(status: Static<typeof PartnerRequestStatus>): PartnerRequestState | undefined {
  return Object.values(PartnerRequestState).find((state) => partnerRequestStatuses[state] === status);
}

/** In Korean, as clients show them; the names are for generated clients. */
export const PartnerRequestStatus = NamedEnum(
  'PartnerRequestStatus',
  'The state of a partnership request: `요청됨` (requested) becomes `수락됨` (accepted), `거절됨` (declined) or `취소됨` (withdrawn), and `수락됨` becomes `종료됨` (ended)',
  {
    [partnerRequestStatuses.requested]: 'Waits for the receiver',
    [partnerRequestStatuses.accepted]: 'The receiver accepted it',
    [partnerRequestStatuses.declined]: 'The receiver declined it',
    [partnerRequestStatuses.withdrawn]: 'The sender withdrew it, or the post or an account was deleted',
    [partnerRequestStatuses.ended]:
      'It was accepted, and then one of the two stores ended it or deleted its account',
  },
  {
    names: ['REQUESTED', 'ACCEPTED', 'DECLINED', 'WITHDRAWN', 'ENDED'],
    examples: [partnerRequestStatuses.requested],
  },
);

/** The status of the newest request that a user's store sent for a post; null without one. The store is looked up once. */
export function newestStatusSql(userId: number, postId: Sql): Sql {
  // In the order of the ids: requests of a store are created one after the other, but may have begun in another order.
  return sql`(
    SELECT r.status FROM partner_requests r
    WHERE r.sender_store_id = (SELECT id FROM stores WHERE owner_id = ${userId}) AND r.post_id = ${postId}
    ORDER BY r.id DESC LIMIT 1)`;
}
