import type { Config } from '../config/config.ts';
import type { Database } from '../database/client.ts';
import type { MailQueue } from '../mail/queue.ts';
import type { Notifications } from './repository/notifications.ts';
import type { PartnerRequests } from './repository/partner-requests.ts';

/** What the services and routes of this domain work with; `index.ts` builds it. */
export interface NotificationDependencies {
  config: Config;
  database: Database;
  mailQueue: MailQueue;
  partnerRequests: PartnerRequests;
  notifications: Notifications;
}
