import type { FastifyInstance } from 'fastify';
import type { Database } from '../../infrastructure/database/client.ts';
import type { Audit } from '../admin/index.ts';
import { createReportRepository } from './repository.ts';
import { reportingRoutes, reportRoutes } from './routes.ts';
import { createReportService } from './service.ts';

export { expiredReports } from './repository.ts';

/** Builds the reports domain: reporting under the paths of posts and stores, and deciding under `/api/v1/admin/reports`. */
export function createReports({ database, audit }: { database: Database; audit: Audit }) {
  const service = createReportService(createReportRepository(database), audit);

  return {
    service,
    postRoutes: async (scope: FastifyInstance) => scope.register(reportingRoutes, { service, kind: 'post' }),
    storeRoutes: async (scope: FastifyInstance) =>
      scope.register(reportingRoutes, { service, kind: 'store' }),
    adminRoutes: async (scope: FastifyInstance) => scope.register(reportRoutes, { service }),
  };
}
