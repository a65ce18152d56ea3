import type { FastifyInstance } from 'fastify';
import type { Database } from '../../infrastructure/database/client.ts';
import type { Audit } from '../admin/index.ts';
import { createReportRepository } from './repository.ts';
import { reportRoutes } from './routes.ts';
import { createReportService } from './service.ts';

export { expiredReports } from './repository.ts';

/** Builds the reports domain: its routes under `/api/v1`, at the paths of posts, stores and admins. */
export function createReports({ database, audit }: { database: Database; audit: Audit }) {
  const service = createReportService(createReportRepository(database), audit);
  return { service, routes: async (scope: FastifyInstance) => scope.register(reportRoutes, { service }) };
}
