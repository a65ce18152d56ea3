import type { FastifyInstance } from 'fastify';
import { requireAdmin, requireUser } from '../../http/authentication.ts';
import type { Database } from '../../infrastructure/database/client.ts';
import type { Audit } from '../admin/index.ts';
import { createReportRepository, type Target } from './repository.ts';
import { reportingRoutes, reportRoutes } from './routes.ts';
import { createReportService } from './service.ts';

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

  const reporting = (kind: Target['kind']) =>
    async function register(scope: FastifyInstance): Promise<void> {
      await scope.register(requireUser);
      await scope.register(reportingRoutes, { service, kind });
    };

  async function adminRoutes(scope: FastifyInstance): Promise<void> {
    await scope.register(requireAdmin);
    await scope.register(reportRoutes, { service });
  }

  return { service, adminRoutes, postRoutes: reporting('post'), storeRoutes: reporting('store') };
}
