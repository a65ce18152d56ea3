import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { readPrivateKeyFile, readPrivateKeys, readVapidKey } from './private-keys.ts';
import {
  ConfigError,
  duration,
  flag,
  integer,
  isOrigin,
  isProxy,
  lifetime,
  oneOf,
  optional,
  parseUrl,
  readDate,
  readInteger,
  readList,
  readUrl,
  text,
  url,
  variable,
} from './readers.ts';
import { isPlaceholder } from './secrets.ts';

/**
 * Every environment variable that the service reads, at its place in the configuration, but for those of `login-providers.ts`, whose
 * names vary. docs/configuration.md says what they mean.
 */
export function variables({ production }: { production: boolean }) {
  const unlessProduction = production ? 'false' : 'true';
  const web = { protocols: ['https:', 'http:'], production };
  const links = { ...web, continuation: 'the links in emails', reason: 'the links in emails carry secrets' };
  const documents = { ...web, reason: 'users agree to what is there' };
  const quota: [number, number] = [0, 1_000_000];
  const missing = production ? 'must be set in production' : undefined;
  return {
    // A misspelt `production` must not run without the checks of production.
    environment: oneOf('NODE_ENV', 'development', ['development', 'test', 'production']),
    dataDirectory: variable('DATA_DIR', '.data', (path) => resolve(path)),
    urls: {
      pooled: { ...url('DATABASE_URL', postgres), missing },
      direct: url('DATABASE_DIRECT_URL', postgres),
    },
    host: variable('HOST', production ? '0.0.0.0' : '127.0.0.1', (host) => host),
    port: integer('PORT', '3000', [0, 65_535]),
    /** Serves `/metrics` in place of {@link port}. */
    metricsPort: optional('METRICS_PORT', (port) => readInteger(port, [1, 65_535])),
    database: {
      replica: optional('DATABASE_REPLICA_URL', readReplica),
      poolSize: integer('DATABASE_POOL_SIZE', '10', [2, 1_000]),
      migrateOnStart: flag('MIGRATE_ON_START', unlessProduction),
    },
    secrets: { ...text('JWT_SECRET'), missing },
    privateKeys: {
      given: optional('JWT_PRIVATE_KEY', readPrivateKeys),
      ofFile: optional('JWT_PRIVATE_KEY_FILE', readPrivateKeyFile),
    },
    tokens: {
      accessTtl: lifetime('ACCESS_TOKEN_TTL', '15m'),
      refreshTtl: lifetime('REFRESH_TOKEN_TTL', '14d'),
      sessionMaxAge: lifetime('SESSION_MAX_AGE', '90d'),
      reuseGrace: duration('REFRESH_REUSE_GRACE', '10s'),
    },
    email: {
      verification: oneOf('EMAIL_VERIFICATION', 'optional', ['optional', 'required']),
      codeTtl: lifetime('EMAIL_CODE_TTL', '10m'),
      cooldown: duration('EMAIL_COOLDOWN', '60s', {
        longest: '1h',
        reason: 'sent emails are remembered that long',
      }),
      verificationTokenTtl: lifetime('VERIFICATION_TOKEN_TTL', '30m'),
      passwordResetTtl: lifetime('PASSWORD_RESET_TTL', '1h'),
      unverifiedAccountTtl: duration('UNVERIFIED_ACCOUNT_TTL', '30d', { canBeOff: true }),
    },
    /** Seconds after which a notification that was read is deleted; 0: never. */
    notificationTtl: duration('NOTIFICATION_TTL', '365d', { canBeOff: true }),
    matchTtl: duration('MATCH_TTL', '30d', { canBeOff: true }),
    password: {
      minLength: integer('PASSWORD_MIN_LENGTH', '8', [8, 64]),
      memoryCost: integer('ARGON2_MEMORY_KIB', '19456', [1_024, 4_194_304]),
      timeCost: integer('ARGON2_TIME_COST', '2', [1, 100]),
      /** As many as there are cores, but two threads stay for files and DNS. */
      maxConcurrentHashes: variable('UV_THREADPOOL_SIZE', '4', (threads) =>
        Math.max(1, Math.min(availableParallelism(), readInteger(threads, [1, 1_024]) - 2)),
      ),
    },
    frontendUrl: {
      ...variable('FRONTEND_URL', 'http://localhost:5173', (given) => readUrl(given, links)),
      missing,
    },
    /** Under which clients reach the service, without a slash at its end. */
    publicUrl: { ...url('PUBLIC_URL', links), missing },
    images: {
      /** Where browsers find uploaded images, without a slash at its end. */
      baseUrl: url('MEDIA_BASE_URL', {
        ...web,
        continuation: 'the names of images',
        reason: 'browsers block other images on secure pages',
      }),
      s3: {
        bucket: text('S3_BUCKET'),
        endpoint: url('S3_ENDPOINT', web),
        region: text('S3_REGION'),
        accessKeyId: text('S3_ACCESS_KEY_ID'),
        secretAccessKey: text('S3_SECRET_ACCESS_KEY'),
      },
    },
    mail: {
      from: { ...variable('MAIL_FROM', 'Dure <no-reply@example.com>', readMailAddress), missing },
      resend: {
        apiKey: { ...optional('RESEND_API_KEY', (key) => (production ? readResendKey(key) : key)), missing },
        baseUrl: url('RESEND_BASE_URL', { ...web, reason: 'the API key and the emails are sent there' }),
      },
    },
    vapid: { key: optional('VAPID_PRIVATE_KEY', readVapidKey), subject: text('VAPID_SUBJECT') },
    // Of Chrome and most others, Firefox, Safari, Edge.
    pushServices: variable(
      'PUSH_SERVICES',
      'fcm.googleapis.com,*.push.services.mozilla.com,*.push.apple.com,*.notify.windows.com',
      (hosts) => readList(hosts.toLowerCase(), isHost, 'not a host such as *.push.apple.com'),
    ),
    /** Of one store in 24 hours; 0: no quota. */
    quotas: {
      postsPerDay: integer('QUOTA_POSTS_PER_DAY', '30', quota),
      editsPerDay: integer('QUOTA_EDITS_PER_DAY', '60', quota),
      requestsPerDay: integer('QUOTA_REQUESTS_PER_DAY', '100', quota),
    },
    /** Of pages that may read responses. Production names them; outside it there is the frontend of a developer, on another port. */
    corsOrigins: optional('CORS_ORIGINS', (list) => readList(list, isOrigin, noOrigin)),
    /** Of apps and pages that may use passkeys besides those. */
    passkeyOrigins: variable('PASSKEY_ORIGINS', '', (list) => readList(list, isPasskeyOrigin, noOrigin)),
    loginProviders: text('LOGIN_PROVIDERS'),
    consentDocuments: {
      terms: { version: optional('TERMS_VERSION', readDate), url: url('TERMS_URL', documents) },
      privacy: { version: optional('PRIVACY_VERSION', readDate), url: url('PRIVACY_URL', documents) },
    },
    trustProxy: variable(
      'TRUST_PROXY',
      'false',
      (proxies) => proxies !== 'false' && readList(proxies, isProxy, 'neither an address nor a CIDR range'),
    ),
    redisUrl: url('REDIS_URL', { protocols: ['redis:', 'rediss:'] }),
    /** How long the instance serves on after SIGTERM, while readiness fails. */
    shutdownDelay: duration('SHUTDOWN_DELAY', '0', {
      canBeOff: true,
      longest: '5s',
      reason: 'requests in flight need the rest of the 15 seconds',
    }),
    rateLimitEnabled: flag('RATE_LIMIT_ENABLED', 'true'),
    workerEnabled: flag('WORKER_ENABLED', 'true'),
    docsEnabled: flag('DOCS_ENABLED', unlessProduction),
    logLevel: oneOf('LOG_LEVEL', 'info', ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']),
    /** Of the build, for the metrics. */
    commit: optional('DURE_COMMIT', readCommit),
    otlpEndpoint: url('OTEL_EXPORTER_OTLP_ENDPOINT', web),
  };
}

const postgres = { protocols: ['postgres:', 'postgresql:'] };

/** The standby that may answer reads of posts and stores. A transaction pooler in front of it is marked as for Prisma. */
function readReplica(given: string) {
  const pooled = parseUrl(given)?.searchParams.get('pgbouncer') === 'true';
  return { url: readUrl(given, postgres), pooled };
}

// Origins are compared as they are, so a wildcard would match none.
const noOrigin = 'not an origin such as https://app.example.com';

/** Also of an Android app: the SHA-256 of its signing certificate. */
const isPasskeyOrigin = (text: string) => isOrigin(text) || /^android:apk-key-hash:[\w-]{43}$/.test(text);

const isHost = (text: string) => /^(\*|(\*\.)?([a-z0-9-]+\.)+[a-z][a-z0-9-]+)$/.test(text);

function readMailAddress(given: string): string {
  if (/^([^<>\r\n]+ <[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/.test(given)) return given;
  throw new ConfigError('must be an address, as in "Dure <no-reply@example.com>"');
}

/** As `re_` and random characters. */
function readResendKey(given: string): string {
  if (/^re_.{5,}$/.test(given) && !isPlaceholder(given)) return given;
  throw new ConfigError('must be an API key of Resend: it begins with re_ and is no placeholder');
}

function readCommit(given: string): string {
  if (given.length <= 64) return given;
  throw new ConfigError('must have at most 64 characters');
}
