import type { Audit } from '../admin/audit.ts';
import type { Database } from '../database/client.ts';
import { createReportService } from './service.ts';

export { expiredReports } from './repository.ts';

interface ReportsOptions {
  database: Database;
  audit: Audit;
}

/** Builds the reports domain: reporting posts and stores, and what operators decide about the reports. */
export function createReports(options: ReportsOptions) {
  const service = createReportService(options);
  return { service };
}
