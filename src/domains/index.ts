import type { JWT } from '@fastify/jwt';
import type { FastifyBaseLogger } from 'fastify';
import type { Config, Patience } from '../infrastructure/config/config.ts';
import { cleanUp } from '../infrastructure/database/clean-up.ts';
import type { Database } from '../infrastructure/database/client.ts';
import { expiredCounts } from '../infrastructure/database/daily-quota.ts';
import { createIdempotency, expiredIdempotencyKeys } from '../infrastructure/database/idempotency.ts';
import type { Read } from '../infrastructure/database/replica.ts';
import { createOutbox } from '../infrastructure/jobs/outbox.ts';
import { expiredMailSends } from '../infrastructure/mail/mail-sends.ts';
import { createMailQueue, expiredFailedMails, mailJobs } from '../infrastructure/mail/queue.ts';
import type { Metrics } from '../infrastructure/telemetry/metrics.ts';
import type { Tracing } from '../infrastructure/telemetry/tracing.ts';
import { createAdmin, createAudit, expiredAuditEntries } from './admin/index.ts';
import { authKinds, createAuth, expiredAuthRows } from './auth/index.ts';
import { createImages, createImageUrls, type ImageStorage } from './images/index.ts';
import { createMyPage } from './my-page/index.ts';
import { createNotifications, pushJobs } from './notifications/index.ts';
import { createOwnData } from './own-data/index.ts';
import { createPartnerRequests, partnerRequestKinds } from './partner-requests/index.ts';
import { createPosts, duePosts } from './posts/index.ts';
import { createReports, expiredReports } from './reports/index.ts';
import { createSavedSearches, expiredPostAlerts, savedSearchKinds } from './saved-searches/index.ts';
import { createStores } from './stores/index.ts';

interface DomainsOptions {
  config: Config & Patience;
  database: Database;
  /** Reads of posts and stores, which the replica may answer; the primary without it. */
  read?: Read | undefined;
  jwt: JWT;
  logger: FastifyBaseLogger;
  metrics: Metrics;
  tracing?: Tracing | undefined;
  storage?: ImageStorage | undefined;
}

/** What the clean-up deletes, whatever the configuration. */
export const expiredRows = [
  ...expiredAuthRows,
  expiredIdempotencyKeys,
  expiredMailSends,
  expiredFailedMails,
  expiredAuditEntries,
  expiredReports,
  expiredCounts,
  expiredPostAlerts,
];

/** Every kind of email, by the name that its jobs have. */
const mailKinds = { ...authKinds, ...partnerRequestKinds, ...savedSearchKinds };

/** The domains of an app, or of a command that works by the same rules. */
export type Domains = Awaited<ReturnType<typeof createDomains>>;

/** Builds the domains. What one needs of the state of another is passed to it here. */
export async function createDomains(options: DomainsOptions) {
  const { config, database, jwt, logger, metrics, tracing, storage } = options;
  const { read = (_userId, work) => work(database) } = options;
  const outbox = createOutbox(database, logger, [mailJobs(mailKinds), pushJobs]);
  const idempotency = createIdempotency(database, config.secrets);
  const imageUrls = createImageUrls(config);
  /** What most of them need. */
  const base = { config, database, idempotency, imageUrls, logger, metrics };
  const notifications = createNotifications({ ...base, outbox, mailKinds });
  const mailQueue = createMailQueue({ kinds: mailKinds, outbox, tracing });
  const partnerRequests = createPartnerRequests({ ...base, outbox, mailQueue, notifications });
  const stores = createStores({ ...base, read });
  const savedSearches = createSavedSearches({ ...base, outbox, mailQueue, notifications });
  const images = await createImages({ ...base, storage });
  const posts = createPosts({ ...base, read, partnerRequests, savedSearches, postImages: images.postImages });
  const { closeRequestsOfStore } = partnerRequests;
  const auth = createAuth({ ...base, mailQueue, jwt, closeRequestsOfStore });
  const { requireConfirmation } = auth;
  const audit = createAudit(database);
  const expired = [...expiredRows, duePosts];
  return {
    auth,
    ownData: createOwnData({ database, imageUrls, requireConfirmation }),
    stores,
    myPage: createMyPage({ database, imageUrls }),
    partnerRequests,
    posts,
    savedSearches,
    images,
    notifications,
    reports: createReports({ database, audit }),
    admin: createAdmin({ database, audit, accounts: auth.administration, mailQueue }),
    outbox,
    cleanUp: () =>
      cleanUp(database, expired, {
        users: auth.deleteAbandonedAccounts(),
        consents: auth.askAboutMarketing(),
        ...auth.sealAgain(),
        images: images.cleanUpImages(),
        notifications: notifications.deleteOld('read', config.notificationTtl),
        old_matches: notifications.deleteOld('unread matches', config.matchTtl),
      }),
    mails: { ...auth.mails, ...partnerRequests.mails, ...savedSearches.mails },
    tasks: { ...auth.tasks, ...savedSearches.tasks },
  };
}
