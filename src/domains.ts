import type { JWT } from '@fastify/jwt';
import type { FastifyBaseLogger } from 'fastify';
import { createAdmin, createAudit } from './domains/admin/index.ts';
import { createAuth } from './domains/auth/index.ts';
import { createImages, createImageUrls, type ImageStorage } from './domains/images/index.ts';
import { createMyPage } from './domains/my-page/index.ts';
import { createNotifications, createPreferences, createPush } from './domains/notifications/index.ts';
import { createOwnData } from './domains/own-data/index.ts';
import { createPartnerRequests } from './domains/partner-requests/index.ts';
import { createPosts } from './domains/posts/index.ts';
import { createReports } from './domains/reports/index.ts';
import { createSavedSearches } from './domains/saved-searches/index.ts';
import { createStores } from './domains/stores/index.ts';
import type { Config, Patience } from './infrastructure/config/config.ts';
import type { Database } from './infrastructure/database/client.ts';
import { createIdempotency } from './infrastructure/database/idempotency.ts';
import type { Read } from './infrastructure/database/replica.ts';
import { createOutbox } from './infrastructure/jobs/outbox.ts';
import { createMailQueue } from './infrastructure/mail/queue.ts';
import { createUnsubscribeLinks } from './infrastructure/mail/unsubscribe-links.ts';
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

/** The domains of an app, or of a command that works by the same rules. */
export type Domains = Awaited<ReturnType<typeof createDomains>>;

/** Builds the domains. What one needs of another is passed to it here. */
export async function createDomains(options: DomainsOptions) {
  const { config, database, tracing, read = (_userId, work) => work(database) } = options;
  const unsubscribeLinks = createUnsubscribeLinks(config);
  const outbox = createOutbox(database, options.logger);
  const mailQueue = createMailQueue(unsubscribeLinks, outbox, tracing);
  const idempotency = createIdempotency(database, config.secrets);
  const imageUrls = createImageUrls(config);
  const base = { ...options, read, outbox, mailQueue, idempotency, imageUrls };
  const notifications = createNotifications(base);
  const partnerRequests = createPartnerRequests({ ...base, ...notifications });
  const stores = createStores(base);
  const { checkCategoryFilter } = stores;
  const savedSearches = createSavedSearches({ ...base, ...notifications, checkCategoryFilter });
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
  const preferences = createPreferences({ database, unsubscribeLinks });
  const push = createPush({ ...base, notifications });
  const audit = createAudit(database);
  const admin = createAdmin({ database, audit, accounts: auth.administration, mailQueue });
  const reports = createReports({ database, audit });
  return {
    outbox,
    idempotency,
    unsubscribeLinks,
    notifications,
    partnerRequests,
    stores,
    images,
    posts,
    savedSearches,
    auth,
    ownData,
    myPage,
    preferences,
    push,
    admin,
    reports,
  };
}
