import type { FastifyInstance } from 'fastify';
import { adminRoutes } from './routes.ts';
import { type AdminOptions, createFailedMailAdministration, createUserAdministration } from './service.ts';

export * from './audit.ts';
export { expiredAuditEntries, listAuditEntries } from './repository.ts';
export { AdminUser } from './schemas.ts';

/** Builds the administration domain: what operators do with accounts and failed emails, and its routes under `/api/v1/admin`. */
export function createAdmin(options: AdminOptions) {
  const users = createUserAdministration(options);
  const failedMails = createFailedMailAdministration(options);
  const routes = async (scope: FastifyInstance) => scope.register(adminRoutes, { users, failedMails });
  return { users, failedMails, routes };
}
