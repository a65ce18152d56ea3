import { requireUser, routesBehind } from '../../http/authentication.ts';
import type { Config } from '../../infrastructure/config/config.ts';
import type { ImageUrls } from '../images/index.ts';
import { partnerRequestMails } from './mails.ts';
import { createPartnerRepository } from './repository/partners.ts';
import { createPartnerRequestRepository } from './repository/requests.ts';
import { partnerRequestRoutes, partnerRoutes } from './routes.ts';
import { createPartnerRequestService, type PartnerRequestServiceOptions } from './service.ts';

export { type PartnerRequestKind, partnerRequestKinds, partnerRequestTopics, requestPage } from './kinds.ts';
export { toPartnerRequest } from './presenters.ts';
export { type SentRequestRow, sentColumns } from './repository/rows.ts';
export { erasedMessages } from './repository/transitions.ts';
export { PartnerRequest, requestFields } from './schemas.ts';

interface PartnerRequestsOptions extends Omit<PartnerRequestServiceOptions, 'partnerRequests'> {
  config: Config;
  imageUrls: ImageUrls;
}

/**
 * Builds the partner requests domain: its routes under `/api/v1/notifications` and `/api/v1/stores`, the emails it sends, and what
 * other domains call when a post or an account is deleted.
 */
export function createPartnerRequests(options: PartnerRequestsOptions) {
  const { config, database, mailQueue, imageUrls } = options;
  const partnerRequests = createPartnerRequestRepository(database, mailQueue);
  const partners = createPartnerRepository(database);
  const service = createPartnerRequestService({ ...options, partnerRequests });

  return {
    routes: routesBehind(requireUser, partnerRequestRoutes, { partnerRequests, service, imageUrls }),
    partnerRoutes: routesBehind(requireUser, partnerRoutes, { partners }),
    mails: partnerRequestMails(config, partnerRequests),
    withdrawRequestsOfPost: service.withdrawRequestsOfPost,
    closeRequestsOfStore: service.closeRequestsOfStore,
  };
}
