import type { FastifyInstance } from 'fastify';
import type { Database } from '../database/client.ts';
import { requireAdmin } from '../http/authentication.ts';
import { documentDomain } from '../http/document-domain.ts';
import { EmptyData } from '../http/schemas.ts';
import type { MailQueue } from '../mail/queue.ts';
import { storeSummarySchemas } from '../stores/schemas.ts';
import type { AccountAdministration } from './accounts.ts';
import type { Audit } from './audit.ts';
import { failedMailRoutes } from './routes/failed-mails.ts';
import { userRoutes } from './routes/users.ts';
import { adminSchemas } from './schemas.ts';
import { createFailedMailAdministration } from './service/failed-mails.ts';
import { createUserAdministration } from './service/users.ts';

interface AdminOptions {
  database: Database;
  audit: Audit;
  accounts: AccountAdministration;
  mailQueue: MailQueue;
}

/** Builds the administration domain: what operators do with accounts and failed mails, and its routes under `/api/v1/admin`. */
export function createAdmin(options: AdminOptions) {
  const users = createUserAdministration(options);
  const failedMails = createFailedMailAdministration(options);

  async function routes(scope: FastifyInstance): Promise<void> {
    const schemas = [EmptyData, ...storeSummarySchemas, ...adminSchemas];
    await scope.register(documentDomain, { tag: 'admin', schemas });
    await scope.register(requireAdmin);
    await scope.register(userRoutes, { users });
    await scope.register(failedMailRoutes, { failedMails });
    // Every other path and method. Only an admin can tell them from those above.
    for (const url of ['/', '/*']) {
      scope.route({
        method: scope.supportedMethods,
        url,
        prefixTrailingSlash: 'slash',
        config: { answersUnmatched: true },
        schema: { hide: true },
        onRequest: async (request) => {
          throw scope.unmatchedError(request);
        },
        handler: async () => undefined,
      });
    }
  }

  return { users, failedMails, routes };
}
