import type { FastifyInstance } from 'fastify';
import type { Config } from '../config/config.ts';
import { requireUser } from '../http/authentication.ts';
import { documentDomain } from '../http/document-domain.ts';
import { storeSummarySchemas } from '../stores/schemas.ts';
import { partnerRequestMails } from './mails.ts';
import { createPartnerRequestRepository } from './repository.ts';
import { partnerRequestRoutes } from './routes.ts';
import { partnerRequestSchemas } from './schemas.ts';
import { createPartnerRequestService, type PartnerRequestServiceOptions } from './service.ts';

interface PartnerRequestsOptions extends Omit<PartnerRequestServiceOptions, 'partnerRequests'> {
  config: Config;
}

/**
 * Builds the partner requests domain: its routes under `/api/v1/notifications`, the mails it sends, and what other domains call
 * when a post or an account is deleted.
 */
export function createPartnerRequests(options: PartnerRequestsOptions) {
  const partnerRequests = createPartnerRequestRepository(options.database);
  const service = createPartnerRequestService({ ...options, partnerRequests });

  async function routes(scope: FastifyInstance): Promise<void> {
    const schemas = [...storeSummarySchemas, ...partnerRequestSchemas];
    await scope.register(documentDomain, { tag: 'notifications', schemas });
    await scope.register(requireUser);
    await scope.register(partnerRequestRoutes, { partnerRequests, service });
  }

  return {
    routes,
    mails: partnerRequestMails(options),
    withdrawRequestsOfPost: service.withdrawRequestsOfPost,
    withdrawRequestsOfStore: service.withdrawRequestsOfStore,
  };
}
