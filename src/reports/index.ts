import type { FastifyInstance, FastifyPluginAsync } from 'fastify';
import type { Audit } from '../admin/audit.ts';
import type { Database } from '../database/client.ts';
import { requireAdmin, requireUser } from '../http/authentication.ts';
import { documentDomain } from '../http/document-domain.ts';
import { storeSummarySchemas } from '../stores/schemas.ts';
import { postReportRoutes, reportRoutes, storeReportRoutes } from './routes.ts';
import { reportingSchemas, reportSchemas } from './schemas.ts';
import { createReportService, type ReportService } from './service.ts';

export { expiredReports } from './repository.ts';

interface ReportsOptions {
  database: Database;
  audit: Audit;
}

/**
 * Builds the reports domain: reporting under the paths of posts and stores, and what operators decide about the reports, with
 * its routes under `/api/v1/admin/reports`.
 */
export function createReports(options: ReportsOptions) {
  const service = createReportService(options);

  /** Reporting, by any user. */
  const reporting = (routes: FastifyPluginAsync<{ service: ReportService }>) =>
    async function register(scope: FastifyInstance): Promise<void> {
      await scope.register(documentDomain, { tag: 'reports', schemas: reportingSchemas });
      await scope.register(requireUser);
      await scope.register(routes, { service });
    };

  async function adminRoutes(scope: FastifyInstance): Promise<void> {
    const schemas = [...storeSummarySchemas, ...reportSchemas];
    await scope.register(documentDomain, { tag: 'admin', schemas });
    await scope.register(requireAdmin);
    await scope.register(reportRoutes, { service });
  }

  return {
    service,
    adminRoutes,
    postRoutes: reporting(postReportRoutes),
    storeRoutes: reporting(storeReportRoutes),
  };
}
