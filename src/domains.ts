import type { JWT } from '@fastify/jwt';
import type { FastifyBaseLogger } from 'fastify';
import { createAdmin, createAudit } from './domains/admin/index.ts';
import { authKinds, createAuth } from './domains/auth/index.ts';
import { createImages, createImageUrls, type ImageStorage } from './domains/images/index.ts';
import { createMyPage } from './domains/my-page/index.ts';
import { createNotifications, pushJobs } from './domains/notifications/index.ts';
import { createOwnData } from './domains/own-data/index.ts';
import { createPartnerRequests, partnerRequestKinds } from './domains/partner-requests/index.ts';
import { createPosts } from './domains/posts/index.ts';
import { createReports } from './domains/reports/index.ts';
import { createSavedSearches, savedSearchKinds } from './domains/saved-searches/index.ts';
import { createStores } from './domains/stores/index.ts';
import type { Config, Patience } from './infrastructure/config/config.ts';
import type { Database } from './infrastructure/database/client.ts';
import { createIdempotency } from './infrastructure/database/idempotency.ts';
import type { Read } from './infrastructure/database/replica.ts';
import { createOutbox } from './infrastructure/jobs/outbox.ts';
import { createMailQueue, mailJobs } from './infrastructure/mail/queue.ts';
import type { Metrics } from './infrastructure/telemetry/metrics.ts';
import type { Tracing } from './infrastructure/telemetry/tracing.ts';

interface DomainsOptions {
  config: Config & Patience;
  database: Database;
  /** Reads of posts and stores, which the replica may answer; the primary without it. */
  read?: Read | undefined;
  /** `@fastify/jwt` with the options of `jwtOptions`. */
  jwt: JWT;
  logger: FastifyBaseLogger;
  metrics: Metrics;
  tracing: Tracing | undefined;
  /** In place of the configured storage of images. */
  storage: ImageStorage | undefined;
}

/** Every kind of email, by the name that its jobs have. */
const mailKinds = { ...authKinds, ...partnerRequestKinds, ...savedSearchKinds };

/** The domains of an app, or of a command that works by the same rules. */
export type Domains = Awaited<ReturnType<typeof createDomains>>;

/** Builds the domains. What one needs of another is passed to it here. */
export async function createDomains(options: DomainsOptions) {
  const { config, database, tracing, read = (_userId, work) => work(database) } = options;
  const outbox = createOutbox(database, options.logger, [mailJobs(mailKinds), pushJobs]);
  const idempotency = createIdempotency(database, config.secrets);
  const imageUrls = createImageUrls(config);
  const notifications = createNotifications({ ...options, outbox, imageUrls, mailKinds });
  const { keyId } = notifications.mailPreferences;
  const mailQueue = createMailQueue({ kinds: mailKinds, keyId, outbox, tracing });
  const base = { ...options, read, outbox, mailQueue, idempotency, imageUrls };
  const partnerRequests = createPartnerRequests({ ...base, ...notifications });
  const stores = createStores(base);
  const { checkCategoryFilter } = stores;
  const savedSearches = createSavedSearches({ ...base, notifications, checkCategoryFilter });
  const images = await createImages(base);
  const posts = createPosts({
    ...base,
    checkCategoryFilter,
    withdrawRequestsOfPost: partnerRequests.withdrawRequestsOfPost,
    queueMatching: savedSearches.queueMatching,
    postImages: images.postImages,
  });
  const deletionSteps = {
    lockStore: stores.lockStore,
    deleteStoredResponses: idempotency.deleteResponsesOf,
    deletePostsOfStore: posts.deletePostsOfStore,
    releaseImagesOf: images.releaseImagesOf,
    closeRequestsOfStore: partnerRequests.closeRequestsOfStore,
    closeStore: stores.closeStore,
  };
  const auth = createAuth({ ...base, deletionSteps });
  const ownData = createOwnData({ ...base, requireConfirmation: auth.requireConfirmation });
  const myPage = createMyPage(base);
  const audit = createAudit(database);
  const admin = createAdmin({ database, audit, accounts: auth.administration, mailQueue });
  const reports = createReports({ database, audit });
  return {
    outbox,
    idempotency,
    notifications,
    partnerRequests,
    stores,
    images,
    posts,
    savedSearches,
    auth,
    ownData,
    myPage,
    admin,
    reports,
  };
}
