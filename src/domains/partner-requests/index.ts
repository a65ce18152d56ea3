import type { FastifyInstance } from 'fastify';
import type { Config } from '../../infrastructure/config/config.ts';
import type { ImageUrls } from '../images/index.ts';
import { partnerRequestMails } from './kinds.ts';
import { partnerRequestRoutes, partnerRoutes } from './routes.ts';
import { createPartnerRequestService, type PartnerRequestServiceOptions } from './service.ts';

export { type PartnerRequestKind, partnerRequestKinds, partnerRequestTopics, requestPage } from './kinds.ts';
export { type SentRequestRow, sentColumns } from './repository/requests.ts';
export { PartnerRequest, requestFields, toPartnerRequest } from './schemas.ts';

/** Builds the partner requests domain: its routes, its emails, and what follows when a post or an account is deleted. */
export function createPartnerRequests(
  options: PartnerRequestServiceOptions & { config: Config; imageUrls: ImageUrls },
) {
  const service = createPartnerRequestService(options);
  const routeOptions = { ...options, service };
  return {
    routes: async (scope: FastifyInstance) => scope.register(partnerRequestRoutes, routeOptions),
    partnerRoutes: async (scope: FastifyInstance) => scope.register(partnerRoutes, routeOptions),
    mails: partnerRequestMails(options.config, options.database),
    ...service,
  };
}
