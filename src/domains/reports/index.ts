import type { FastifyInstance, FastifyPluginAsync } from 'fastify';
import { requireAdmin, requireUser } from '../../http/authentication.ts';
import type { Database } from '../../infrastructure/database/client.ts';
import type { Audit } from '../admin/index.ts';
import { createReportRepository } from './repository.ts';
import { postReportRoutes, reportRoutes, storeReportRoutes } from './routes.ts';
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
export function createReports({ database, audit }: ReportsOptions) {
  const service = createReportService(createReportRepository(database), audit);

  const reporting = (routes: FastifyPluginAsync<{ service: ReportService }>) =>
    async function register(scope: FastifyInstance): Promise<void> {
      await scope.register(requireUser);
      await scope.register(routes, { service });
    };

  async function adminRoutes(scope: FastifyInstance): Promise<void> {
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
