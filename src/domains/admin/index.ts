import type { FastifyInstance } from 'fastify';
import type { Database } from '../../infrastructure/database/client.ts';
import { createAdminRepository } from './repository.ts';
import { adminRoutes } from './routes.ts';
import { type AdminOptions, createFailedMailAdministration, createUserAdministration } from './service.ts';

export * from './audit.ts';
export { expiredAuditEntries, listAuditEntries } from './repository.ts';
export { AdminUser } from './schemas.ts';

/** Builds the administration domain: what operators do with accounts and failed emails, and its routes under `/api/v1/admin`. */
export function createAdmin(options: Omit<AdminOptions, 'repository'> & { database: Database }) {
  const administration = { ...options, repository: createAdminRepository(options.database) };
  const users = createUserAdministration(administration);
  const failedMails = createFailedMailAdministration(administration);
  const routes = async (scope: FastifyInstance) => scope.register(adminRoutes, { users, failedMails });
  return { users, failedMails, routes };
}
