import type { JWT } from '@fastify/jwt';
import type { FastifyBaseLogger } from 'fastify';
import { createAccountDeletion } from './account-deletion/index.ts';
import { createAudit } from './admin/audit.ts';
import { createAdmin } from './admin/index.ts';
import { createAuth } from './auth/index.ts';
import type { Config } from './config/config.ts';
import type { Database } from './database/client.ts';
import { createIdempotency } from './http/idempotency.ts';
import { createImageUrls } from './images/image-urls.ts';
import { createImages } from './images/index.ts';
import type { ImageStorage } from './images/storage/storage.ts';
import { createMailQueue } from './mail/queue.ts';
import { createUnsubscribeLinks } from './mail/unsubscribe-links.ts';
import type { Metrics } from './metrics/metrics.ts';
import { createMyPage } from './my-page/index.ts';
import { createNotifications } from './notifications/index.ts';
import { createPartnerRequests } from './partner-requests/index.ts';
import { createPosts } from './posts/index.ts';
import { createPreferences } from './preferences/index.ts';
import { createReports } from './reports/index.ts';
import { createStores } from './stores/index.ts';
import type { Tracing } from './tracing/tracing.ts';

interface DomainsOptions {
  config: Config;
  database: Database;
  /** `@fastify/jwt` with the options of `jwtOptions`. */
  jwt: JWT;
  logger: FastifyBaseLogger;
  metrics: Metrics;
  tracing: Tracing | undefined;
  /** In place of the configured storage of pictures. */
  storage: ImageStorage | undefined;
}

/** The domains of an app, or of a command that works by the same rules. */
export type Domains = Awaited<ReturnType<typeof createDomains>>;

/** Builds the domains. What one needs of another is passed to it here. */
export async function createDomains({
  config,
  database,
  jwt,
  logger,
  metrics,
  tracing,
  storage,
}: DomainsOptions) {
  const unsubscribeLinks = createUnsubscribeLinks(config);
  const mailQueue = createMailQueue(unsubscribeLinks, tracing);
  const idempotency = createIdempotency(database, config.secrets);
  const imageUrls = createImageUrls(config);
  const base = { config, database, mailQueue, idempotency, imageUrls, logger };
  const notifications = createNotifications(base);
  const partnerRequests = createPartnerRequests({ ...base, notify: notifications.notify });
  const { withdrawRequestsOfPost, closeRequestsOfStore } = partnerRequests;
  const stores = createStores(base);
  const { checkCategoryFilter, lockStore, closeStore } = stores;
  const images = await createImages({ ...base, metrics, storage });
  const { postImages } = images;
  const posts = createPosts({ ...base, checkCategoryFilter, withdrawRequestsOfPost, postImages });
  const deleteAccountData = createAccountDeletion({
    deleteAnswersOf: idempotency.deleteAnswersOf,
    deletePostsOfStore: posts.deletePostsOfStore,
    releaseImagesOf: images.releaseImagesOf,
    lockStore,
    closeStore,
    closeRequestsOfStore,
  });
  const auth = createAuth({ ...base, metrics, jwt, deleteAccountData, lockStore });
  const myPage = createMyPage(base);
  const preferences = createPreferences({ database, unsubscribeLinks });
  const audit = createAudit(database);
  const admin = createAdmin({ database, audit, accounts: auth.administration, mailQueue });
  const reports = createReports({ database, audit });
  return {
    unsubscribeLinks,
    notifications,
    partnerRequests,
    stores,
    images,
    posts,
    auth,
    myPage,
    preferences,
    audit,
    admin,
    reports,
  };
}
