import type { FastifyInstance } from 'fastify';
import type { Config } from '../config/config.ts';
import { requireUser } from '../http/authentication.ts';
import { documentDomain } from '../http/document-domain.ts';
import type { ImageUrls } from '../images/image-urls.ts';
import { storeSummarySchemas } from '../stores/schemas.ts';
import { partnerRequestMails } from './mails.ts';
import { partnerSchemas, requestDetailSchemas } from './partner-schemas.ts';
import { createPartnerRequestRepository } from './repository.ts';
import { partnerRequestRoutes } from './routes/partner-requests.ts';
import { partnerListRoute } from './routes/partners.ts';
import { transitionRoutes } from './routes/transitions.ts';
import { partnerRequestSchemas } from './schemas.ts';
import { createPartnerRequestService, type PartnerRequestServiceOptions } from './service.ts';

interface PartnerRequestsOptions extends Omit<PartnerRequestServiceOptions, 'partnerRequests'> {
  config: Config;
  imageUrls: ImageUrls;
}

/**
 * Builds the partner requests domain: its routes under `/api/v1/notifications` and `/api/v1/stores`, the mails it sends, and what
 * other domains call when a post or an account is deleted.
 */
export function createPartnerRequests(options: PartnerRequestsOptions) {
  const partnerRequests = createPartnerRequestRepository(options.database);
  const service = createPartnerRequestService({ ...options, partnerRequests });

  async function routes(scope: FastifyInstance): Promise<void> {
    const schemas = [...storeSummarySchemas, ...partnerRequestSchemas, ...requestDetailSchemas];
    await scope.register(documentDomain, { tag: 'notifications', schemas });
    await scope.register(requireUser);
    await scope.register(partnerRequestRoutes, { partnerRequests, service, imageUrls: options.imageUrls });
    await scope.register(transitionRoutes, { service });
  }

  /** The partners of the logged-in user's store. */
  async function partnerRoutes(scope: FastifyInstance): Promise<void> {
    const schemas = [...storeSummarySchemas, ...partnerSchemas];
    await scope.register(documentDomain, { tag: 'stores', schemas });
    await scope.register(requireUser);
    await scope.register(partnerListRoute, { partnerRequests });
  }

  return {
    routes,
    partnerRoutes,
    mails: partnerRequestMails(options),
    withdrawRequestsOfPost: service.withdrawRequestsOfPost,
    closeRequestsOfStore: service.closeRequestsOfStore,
  };
}
