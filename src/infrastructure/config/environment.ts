import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { readPrivateKeyFile, readPrivateKeys, readVapidKey } from './private-keys.ts';
import {
  asText,
  databaseUrl,
  duration,
  flag,
  isDate,
  isOrigin,
  isProxy,
  list,
  oneOf,
  parseUrl,
  textThat,
  url,
  variable,
  wholeNumber,
} from './readers.ts';
import { isPlaceholder, readSecrets } from './secrets.ts';

/**
 * Every environment variable that the service reads, at its place in the configuration, but for those of `login-providers.ts`, whose
 * names vary. docs/configuration.md says what they mean.
 */
export function variables({ production }: { production: boolean }) {
  const unlessProduction = production ? 'false' : 'true';
  const linkUrl = url({
    continuation: 'the links in emails',
    reason: production && 'the links in emails carry secrets',
  });
  const documentUrl = url({ reason: production && 'users agree to what is there' });
  const needed = production ? { missing: 'must be set in production' } : {};
  return {
    // A misspelt `production` must not run without the checks of production.
    environment: variable('NODE_ENV', oneOf('development', 'test', 'production'), 'development'),
    dataDirectory: variable('DATA_DIR', (path) => resolve(path), '.data'),
    urls: {
      pooled: { ...variable('DATABASE_URL', databaseUrl), ...needed },
      direct: variable('DATABASE_DIRECT_URL', databaseUrl),
    },
    host: variable('HOST', asText, production ? '0.0.0.0' : '127.0.0.1'),
    port: variable('PORT', wholeNumber(0, 65_535), '3000'),
    /** Serves `/metrics` in place of {@link port}. */
    metricsPort: variable('METRICS_PORT', wholeNumber(1, 65_535)),
    database: {
      /** The standby that may answer reads of posts and stores. A transaction pooler in front of it is marked as for Prisma. */
      replica: variable('DATABASE_REPLICA_URL', (given) => ({
        url: databaseUrl(given),
        pooled: parseUrl(given)?.searchParams.get('pgbouncer') === 'true',
      })),
      poolSize: variable('DATABASE_POOL_SIZE', wholeNumber(2, 1_000), '10'),
      migrateOnStart: variable('MIGRATE_ON_START', flag, unlessProduction),
    },
    secrets: { ...variable('JWT_SECRET', (given) => readSecrets(given, { production })), ...needed },
    privateKeys: {
      given: variable('JWT_PRIVATE_KEY', readPrivateKeys),
      ofFile: variable('JWT_PRIVATE_KEY_FILE', readPrivateKeyFile),
    },
    tokens: {
      accessTtl: variable('ACCESS_TOKEN_TTL', lifetime, '15m'),
      refreshTtl: variable('REFRESH_TOKEN_TTL', lifetime, '14d'),
      sessionMaxAge: variable('SESSION_MAX_AGE', lifetime, '90d'),
      reuseGrace: variable('REFRESH_REUSE_GRACE', duration(), '10s'),
    },
    email: {
      verification: variable('EMAIL_VERIFICATION', oneOf('optional', 'required'), 'optional'),
      codeTtl: variable('EMAIL_CODE_TTL', lifetime, '10m'),
      cooldown: variable(
        'EMAIL_COOLDOWN',
        duration({ longest: '1h', reason: 'sent emails are remembered that long' }),
        '60s',
      ),
      verificationTokenTtl: variable('VERIFICATION_TOKEN_TTL', lifetime, '30m'),
      passwordResetTtl: variable('PASSWORD_RESET_TTL', lifetime, '1h'),
      unverifiedAccountTtl: variable('UNVERIFIED_ACCOUNT_TTL', durationOrOff, '30d'),
    },
    /** Seconds after which a notification that was read is deleted; 0: never. */
    notificationTtl: variable('NOTIFICATION_TTL', durationOrOff, '365d'),
    matchTtl: variable('MATCH_TTL', durationOrOff, '30d'),
    password: {
      minLength: variable('PASSWORD_MIN_LENGTH', wholeNumber(8, 64), '8'),
      memoryCost: variable('ARGON2_MEMORY_KIB', wholeNumber(1_024, 4_194_304), '19456'),
      timeCost: variable('ARGON2_TIME_COST', wholeNumber(1, 100), '2'),
      /** As many as there are cores, but two threads stay for files and DNS. */
      maxConcurrentHashes: variable(
        'UV_THREADPOOL_SIZE',
        (threads) => Math.max(1, Math.min(availableParallelism(), wholeNumber(1, 1_024)(threads) - 2)),
        '4',
      ),
    },
    frontendUrl: { ...variable('FRONTEND_URL', linkUrl, 'http://localhost:5173'), ...needed },
    /** Under which clients reach the service, without a slash at its end. */
    publicUrl: { ...variable('PUBLIC_URL', linkUrl), ...needed },
    images: {
      /** Where browsers find uploaded images, without a slash at its end. */
      baseUrl: variable(
        'MEDIA_BASE_URL',
        url({
          continuation: 'the names of images',
          reason: production && 'browsers block other images on secure pages',
        }),
      ),
      s3: {
        bucket: variable('S3_BUCKET', asText),
        endpoint: variable('S3_ENDPOINT', url()),
        region: variable('S3_REGION', asText),
        accessKeyId: variable('S3_ACCESS_KEY_ID', asText),
        secretAccessKey: variable('S3_SECRET_ACCESS_KEY', asText),
      },
    },
    mail: {
      from: { ...variable('MAIL_FROM', mailAddress, 'Dure <no-reply@example.com>'), ...needed },
      resend: {
        apiKey: { ...variable('RESEND_API_KEY', production ? resendKey : asText), ...needed },
        baseUrl: variable(
          'RESEND_BASE_URL',
          url({ reason: production && 'the API key and the emails are sent there' }),
        ),
      },
    },
    vapid: { key: variable('VAPID_PRIVATE_KEY', readVapidKey), subject: variable('VAPID_SUBJECT', asText) },
    // Of Chrome and most others, Firefox, Safari, Edge.
    pushServices: variable(
      'PUSH_SERVICES',
      (hosts) => list(isHost, 'not a host such as *.push.apple.com')(hosts.toLowerCase()),
      'fcm.googleapis.com,*.push.services.mozilla.com,*.push.apple.com,*.notify.windows.com',
    ),
    /** Of one store in 24 hours; 0: no quota. */
    quotas: {
      postsPerDay: variable('QUOTA_POSTS_PER_DAY', quota, '30'),
      editsPerDay: variable('QUOTA_EDITS_PER_DAY', quota, '60'),
      requestsPerDay: variable('QUOTA_REQUESTS_PER_DAY', quota, '100'),
    },
    /** Of pages that may read responses. Production names them; outside it there is the frontend of a developer, on another port. */
    corsOrigins: variable('CORS_ORIGINS', list(isOrigin, noOrigin)),
    /** Of apps and pages that may use passkeys besides those. */
    passkeyOrigins: variable('PASSKEY_ORIGINS', list(isPasskeyOrigin, noOrigin), ''),
    loginProviders: variable('LOGIN_PROVIDERS', asText),
    consentDocuments: {
      terms: { version: variable('TERMS_VERSION', date), url: variable('TERMS_URL', documentUrl) },
      privacy: { version: variable('PRIVACY_VERSION', date), url: variable('PRIVACY_URL', documentUrl) },
    },
    trustProxy: variable('TRUST_PROXY', (given) => given !== 'false' && proxies(given), 'false'),
    redisUrl: variable('REDIS_URL', url({ protocols: ['redis:', 'rediss:'] })),
    /** How long the instance serves on after SIGTERM, while readiness fails. */
    shutdownDelay: variable(
      'SHUTDOWN_DELAY',
      duration({
        canBeOff: true,
        longest: '5s',
        reason: 'requests in flight need the rest of the 15 seconds',
      }),
      '0',
    ),
    rateLimitEnabled: variable('RATE_LIMIT_ENABLED', flag, 'true'),
    workerEnabled: variable('WORKER_ENABLED', flag, 'true'),
    docsEnabled: variable('DOCS_ENABLED', flag, unlessProduction),
    logLevel: variable(
      'LOG_LEVEL',
      oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
      'info',
    ),
    /** Of the build, for the metrics. */
    commit: variable(
      'DURE_COMMIT',
      textThat(({ length }) => length <= 64, 'must have at most 64 characters'),
    ),
    otlpEndpoint: variable('OTEL_EXPORTER_OTLP_ENDPOINT', url()),
  };
}

const lifetime = duration({ isPositive: true });
const durationOrOff = duration({ canBeOff: true });
const quota = wholeNumber(0, 1_000_000);
const date = textThat(isDate, 'must be a date such as 2026-01-31');
const proxies = list(isProxy, 'neither an address nor a CIDR range');
const isHost = (text: string) => /^(\*|(\*\.)?([a-z0-9-]+\.)+[a-z][a-z0-9-]+)$/.test(text);
// Origins are compared as they are, so a wildcard would match none.
const noOrigin = 'not an origin such as https://app.example.com';
/** Also of an Android app: the SHA-256 of its signing certificate. */
const isPasskeyOrigin = (text: string) => isOrigin(text) || /^android:apk-key-hash:[\w-]{43}$/.test(text);
const mailAddress = textThat(
  (text) => /^([^<>\r\n]+ <[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/.test(text),
  'must be an address, as in "Dure <no-reply@example.com>"',
);
/** As `re_` and random characters. */
const resendKey = textThat(
  (text) => /^re_.{5,}$/.test(text) && !isPlaceholder(text),
  'must be an API key of Resend: it begins with re_ and is no placeholder',
);
