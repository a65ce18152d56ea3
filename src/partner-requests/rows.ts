import type { PartnerRequestStatus } from '../database/generated/enums.ts';
import type { PartnerRequest, ReceivedPartnerRequest } from './schemas.ts';

/** A request of the API with the status and the times as the database has them. */
type RequestRow<Shown> = Omit<Shown, 'box' | 'status' | 'created_at' | 'updated_at'> & {
  status: PartnerRequestStatus;
  created_at: Date;
  updated_at: Date;
};

export type SentRequestRow = RequestRow<PartnerRequest>;
export type ReceivedRequestRow = RequestRow<ReceivedPartnerRequest>;
