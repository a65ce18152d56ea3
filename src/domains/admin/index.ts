import type { FastifyInstance } from 'fastify';
import type { Database } from '../../infrastructure/database/client.ts';
import type { MailQueue } from '../../infrastructure/mail/queue.ts';
import type { AccountAdministration } from '../auth/index.ts';
import type { Audit } from './audit.ts';
import { createAdminRepository } from './repository.ts';
import { adminRoutes } from './routes.ts';
import { createFailedMailAdministration, createUserAdministration } from './service.ts';

export * from './audit.ts';
export { expiredAuditEntries, listAuditEntries } from './repository.ts';
export { AdminUser } from './schemas.ts';

interface AdminOptions {
  database: Database;
  audit: Audit;
  accounts: AccountAdministration;
  mailQueue: MailQueue;
}

/** Builds the administration domain: what operators do with accounts and failed emails, and its routes under `/api/v1/admin`. */
export function createAdmin({ database, audit, accounts, mailQueue }: AdminOptions) {
  const repository = createAdminRepository(database);
  const users = createUserAdministration(repository, audit, accounts);
  const failedMails = createFailedMailAdministration(repository, audit, mailQueue);
  const routes = async (scope: FastifyInstance) => scope.register(adminRoutes, { users, failedMails });
  return { users, failedMails, routes };
}
