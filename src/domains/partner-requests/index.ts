import type { FastifyInstance } from 'fastify';
import type { Config } from '../../infrastructure/config/config.ts';
import type { ImageUrls } from '../images/index.ts';
import { partnerRequestMails } from './kinds.ts';
import { createPartnerRequestChanges } from './repository/changes.ts';
import { createPartnerRequestReader } from './repository/requests.ts';
import { partnerRequestRoutes, partnerRoutes } from './routes.ts';
import { createPartnerRequestService, type PartnerRequestServiceOptions } from './service.ts';

export { type PartnerRequestKind, partnerRequestKinds, partnerRequestTopics, requestPage } from './kinds.ts';
export { erasedMessages } from './repository/changes.ts';
export { type SentRequestRow, sentColumns } from './repository/requests.ts';
export { PartnerRequest, requestFields, toPartnerRequest } from './schemas.ts';

interface PartnerRequestsOptions extends Omit<PartnerRequestServiceOptions, 'partnerRequests' | 'changes'> {
  config: Config;
  imageUrls: ImageUrls;
}

/** Builds the partner requests domain: its routes, its emails, and what follows when a post or an account is deleted. */
export function createPartnerRequests(options: PartnerRequestsOptions) {
  const { config, database, mailQueue, imageUrls } = options;
  const partnerRequests = createPartnerRequestReader(database);
  const changes = createPartnerRequestChanges(database, mailQueue);
  const service = createPartnerRequestService({ ...options, partnerRequests, changes });
  const routeOptions = { partnerRequests, service, imageUrls };
  return {
    routes: async (scope: FastifyInstance) => scope.register(partnerRequestRoutes, routeOptions),
    partnerRoutes: async (scope: FastifyInstance) => scope.register(partnerRoutes, routeOptions),
    mails: partnerRequestMails(config, partnerRequests),
    withdrawRequestsOfPost: service.withdrawRequestsOfPost,
    closeRequestsOfStore: service.closeRequestsOfStore,
  };
}
