import type { Database } from '../database/client.ts';
import type { MailQueue } from '../mail/queue.ts';
import type { AccountAdministration } from './accounts.ts';
import type { Audit } from './audit.ts';
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
  return { users, failedMails };
}
