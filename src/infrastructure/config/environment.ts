import { existsSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { isDate } from '../times.ts';
import * as keys from './keys.ts';
import { readLoginProviders } from './login-providers.ts';
import * as to from './readers.ts';

const neededInProduction = 'DATABASE_URL JWT_SECRET RESEND_API_KEY MAIL_FROM FRONTEND_URL PUBLIC_URL'.split(
  ' ',
);

/** Reads where the database is: one of the two URLs is enough; without both it is the embedded one, in the folder. */
export function readDatabase({ read }: to.Variables) {
  // A misspelt `production` must not run without the checks of production.
  read('NODE_ENV', to.oneOf('development', 'test', 'production'), 'development');
  const dataDirectory = read('DATA_DIR', (path) => resolve(path), '.data');
  const pooledUrl = read('DATABASE_URL', to.databaseUrl);
  const directUrl = read('DATABASE_DIRECT_URL', to.databaseUrl);
  const pooled = pooledUrl !== undefined && directUrl !== undefined;
  return {
    dataDirectory,
    database: { url: pooledUrl ?? directUrl, directUrl: directUrl ?? pooledUrl, pooled },
  };
}

/**
 * Reads every environment variable of the service; docs/configuration.md says what they mean. Generates no secret unless told to.
 *
 * @returns also `problems`, one line each, and `texts`, what each variable is set to or has by default
 */
export function inspectConfig(source: NodeJS.ProcessEnv, { generateSecret = false } = {}) {
  const production = source['NODE_ENV'] === 'production';
  const unlessProduction = production ? 'false' : 'true';
  const variables = to.openVariables(source, production ? neededInProduction : []);
  const { read, texts, problems } = variables;

  const { dataDirectory, database } = readDatabase(variables);
  const port = read('PORT', to.wholeNumber(0, 65_535), '3000');
  const linkUrl = to.url({
    continuation: 'the links in emails',
    reason: production && 'the links in emails carry secrets',
  });
  const frontendUrl = read('FRONTEND_URL', linkUrl, 'http://localhost:5173');
  const publicUrl = read('PUBLIC_URL', linkUrl) ?? `http://localhost:${port}`;
  // Never `null`, which is the origin of a sandboxed frame.
  const frontendOrigin = to.parseUrl(frontendUrl)?.origin ?? '';
  const corsOrigins =
    read('CORS_ORIGINS', to.list(to.isOrigin, noOrigin)) ?? (production ? [] : [frontendOrigin]);

  const secretFile = keys.secretPath(dataDirectory);
  const isGenerated = !source['JWT_SECRET'] && !production && (generateSecret || existsSync(secretFile));
  const secrets =
    read('JWT_SECRET', (text) => keys.readSecrets(text, { production })) ??
    (isGenerated ? variables.attempt('DATA_DIR', () => keys.generatedSecrets(secretFile)) : undefined) ??
    keys.toSecrets('');
  const from = read('MAIL_FROM', mailAddress, 'Dure <no-reply@example.com>');
  const apiKey = read('RESEND_API_KEY', production ? resendKey : to.asText);
  const resendUrl = to.url({ reason: production && 'the API key and the emails are sent there' });
  const baseUrl = read('RESEND_BASE_URL', resendUrl);

  const isDerived = !production && secrets[0].key.length > 0;
  const givenKey = read('VAPID_PRIVATE_KEY', keys.readVapidKey);
  const vapidKey =
    givenKey ??
    (isDerived ? variables.attempt('JWT_SECRET', () => keys.deriveVapidKey(secrets[0].key)) : undefined);
  const givenSubject = read('VAPID_SUBJECT', to.asText);
  const subject = givenSubject ?? `mailto:${/[^\s<>]+@[^\s<>]+/.exec(from)?.[0]}`;

  const bucket = read('S3_BUCKET', to.asText);
  const endpoint = read('S3_ENDPOINT', to.url());
  const region = read('S3_REGION', to.asText) ?? 'us-east-1';
  const accessKeyId = read('S3_ACCESS_KEY_ID', to.asText);
  const secretAccessKey = read('S3_SECRET_ACCESS_KEY', to.asText);
  const credentials = accessKeyId && secretAccessKey ? { accessKeyId, secretAccessKey } : undefined;
  const mediaUrl = to.url({
    continuation: 'the names of images',
    reason: production && 'browsers block other images on secure pages',
  });

  /** A document that users agree to: its date, as `2026-01-31`, and where it is. */
  function readDocument(name: 'TERMS' | 'PRIVACY') {
    const version = read(`${name}_VERSION`, to.textThat(isDate, 'must be a date such as 2026-01-31'));
    const address = read(`${name}_URL`, to.url({ reason: production && 'users agree to what is there' }));
    return version === undefined || address === undefined ? undefined : { version, url: address };
  }

  const config = {
    production,
    dataDirectory,
    host: read('HOST', to.asText, production ? '0.0.0.0' : '127.0.0.1'),
    port,
    /** Serves `/metrics` in place of {@link port}. */
    metricsPort: read('METRICS_PORT', to.wholeNumber(1, 65_535)),
    database: {
      ...database,
      /** The standby that may answer reads of posts and stores. A transaction pooler in front of it is marked as for Prisma. */
      replica: read('DATABASE_REPLICA_URL', (text) => ({
        url: to.databaseUrl(text),
        pooled: to.parseUrl(text)?.searchParams.get('pgbouncer') === 'true',
      })),
      poolSize: read('DATABASE_POOL_SIZE', to.wholeNumber(2, 1_000), '10'),
      migrateOnStart: read('MIGRATE_ON_START', to.flag, unlessProduction),
    },
    secrets,
    /** The first one signs access tokens, the first secret does without any. All verify. */
    privateKeys: [
      read('JWT_PRIVATE_KEY', keys.readPrivateKeys) ?? [],
      read('JWT_PRIVATE_KEY_FILE', (path) => keys.readPrivateKeys(readFileSync(path, 'utf8'))) ?? [],
    ].flat(),
    tokens: {
      accessTtl: read('ACCESS_TOKEN_TTL', lifetime, '15m'),
      refreshTtl: read('REFRESH_TOKEN_TTL', lifetime, '14d'),
      sessionMaxAge: read('SESSION_MAX_AGE', lifetime, '90d'),
      reuseGrace: read('REFRESH_REUSE_GRACE', to.duration(), '10s'),
    },
    email: {
      verification: read('EMAIL_VERIFICATION', to.oneOf('optional', 'required'), 'optional'),
      codeTtl: read('EMAIL_CODE_TTL', lifetime, '10m'),
      cooldown: read('EMAIL_COOLDOWN', cooldown, '60s'),
      verificationTokenTtl: read('VERIFICATION_TOKEN_TTL', lifetime, '30m'),
      passwordResetTtl: read('PASSWORD_RESET_TTL', lifetime, '1h'),
      unverifiedAccountTtl: read('UNVERIFIED_ACCOUNT_TTL', durationOrOff, '30d'),
    },
    /** Seconds after which a notification that was read is deleted; 0: never. */
    notificationTtl: read('NOTIFICATION_TTL', durationOrOff, '365d'),
    matchTtl: read('MATCH_TTL', durationOrOff, '30d'),
    password: {
      minLength: read('PASSWORD_MIN_LENGTH', to.wholeNumber(8, 64), '8'),
      memoryCost: read('ARGON2_MEMORY_KIB', to.wholeNumber(1_024, 4_194_304), '19456'),
      timeCost: read('ARGON2_TIME_COST', to.wholeNumber(1, 100), '2'),
      /** As many as there are cores, but two threads stay for files and DNS. */
      maxConcurrentHashes: Math.max(
        1,
        Math.min(availableParallelism(), read('UV_THREADPOOL_SIZE', to.wholeNumber(1, 1_024), '4') - 2),
      ),
    },
    frontendUrl,
    /** Under which clients reach the service, without a slash at its end. */
    publicUrl,
    images: {
      /** Where browsers find uploaded images, without a slash at its end. */
      baseUrl: read('MEDIA_BASE_URL', mediaUrl) ?? `${publicUrl}/media`,
      /** Folder of the uploaded images, unless they are in S3. */
      directory: join(dataDirectory, 'media'),
      s3: bucket === undefined ? undefined : { bucket, endpoint, region, credentials },
    },
    mail: { from, resend: apiKey === undefined ? undefined : { apiKey, baseUrl } },
    /** Of push messages; undefined where there are none. */
    vapid: vapidKey && { ...vapidKey, subject },
    // Of Chrome and most others, Firefox, Safari, Edge.
    pushServices: read(
      'PUSH_SERVICES',
      (hosts) => to.list(isHost, 'not a host such as *.push.apple.com')(hosts.toLowerCase()),
      'fcm.googleapis.com,*.push.services.mozilla.com,*.push.apple.com,*.notify.windows.com',
    ),
    /** Of one store in 24 hours; 0: no quota. */
    quotas: {
      postsPerDay: read('QUOTA_POSTS_PER_DAY', quota, '30'),
      editsPerDay: read('QUOTA_EDITS_PER_DAY', quota, '60'),
      requestsPerDay: read('QUOTA_REQUESTS_PER_DAY', quota, '100'),
    },
    /** Of pages that may read responses. Production names them; outside it there is the frontend of a developer, on another port. */
    corsOrigins,
    /** Of pages that may use the refresh token in the cookie: of the frontend, which may be that of the service, and the others. */
    pageOrigins: [frontendOrigin, ...corsOrigins].filter(Boolean),
    /** Of apps and pages that may use passkeys besides those. */
    passkeyOrigins: read('PASSKEY_ORIGINS', to.list(isPasskeyOrigin, noOrigin), ''),
    /** In the order in which a page shows them. */
    loginProviders: readLoginProviders(variables, { production }),
    /** What users agree to at sign-up, where they have to. */
    consentDocuments: { terms: readDocument('TERMS'), privacy: readDocument('PRIVACY') },
    trustProxy: read('TRUST_PROXY', (text) => text !== 'false' && proxies(text), 'false'),
    redisUrl: read('REDIS_URL', to.url({ protocols: ['redis:', 'rediss:'] })),
    /** How long the instance serves on after SIGTERM, while readiness fails. */
    shutdownDelay: read('SHUTDOWN_DELAY', shutdownDelay, '0'),
    rateLimitEnabled: read('RATE_LIMIT_ENABLED', to.flag, 'true'),
    workerEnabled: read('WORKER_ENABLED', to.flag, 'true'),
    docsEnabled: read('DOCS_ENABLED', to.flag, unlessProduction),
    logLevel: read('LOG_LEVEL', logLevel, 'info'),
    /** Of the build, for the metrics. */
    commit: read(
      'DURE_COMMIT',
      to.textThat(({ length }) => length <= 64, 'must have at most 64 characters'),
    ),
    otlpEndpoint: read('OTEL_EXPORTER_OTLP_ENDPOINT', to.url()),
    /** What works but is weak, for the log. */
    warnings: production ? findWeakPasswords(texts) : [],
  };
  problems.push(
    ...findConflicts(source),
    ...to.textsOf({
      'METRICS_PORT must differ from PORT, which is for clients': config.metricsPort === port,
      'VAPID_SUBJECT must be an address such as mailto:push@example.com, or a URL that starts with https://; in production one that push services can reach: without it MAIL_FROM counts':
        (givenKey ?? givenSubject) !== undefined && !keys.isVapidSubject(subject, { production }),
    }),
  );
  return { config, texts, problems };
}

const lifetime = to.duration({ isPositive: true });
const durationOrOff = to.duration({ canBeOff: true });
const cooldown = to.duration({ longest: '1h', reason: 'sent emails are remembered that long' });
const shutdownDelay = to.duration({
  canBeOff: true,
  longest: '5s',
  reason: 'requests in flight need the rest of the 15 seconds',
});
const quota = to.wholeNumber(0, 1_000_000);
const logLevel = to.oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent');
const proxies = to.list(to.isProxy, 'neither an address nor a CIDR range');
const isHost = (text: string) => /^(\*|(\*\.)?([a-z0-9-]+\.)+[a-z][a-z0-9-]+)$/.test(text);
// Origins are compared as they are, so a wildcard would match none.
const noOrigin = 'not an origin such as https://app.example.com';
/** Also of an Android app: the SHA-256 of its signing certificate. */
const isPasskeyOrigin = (text: string) => to.isOrigin(text) || /^android:apk-key-hash:[\w-]{43}$/.test(text);
const mailAddress = to.textThat(
  (text) => /^([^<>\r\n]+ <[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/.test(text),
  'must be an address, as in "Dure <no-reply@example.com>"',
);
/** As `re_` and random characters. */
const resendKey = to.textThat(
  (text) => /^re_.{5,}$/.test(text) && !keys.isPlaceholder(text),
  'must be an API key of Resend: it begins with re_ and is no placeholder',
);

/** What is missing, or too much, beside other variables. One that is set and wrong counts as set. */
function findConflicts(source: NodeJS.ProcessEnv): string[] {
  const isSet = (name: string) => Boolean(source[name]);
  const ofBucket = ['S3_ENDPOINT', 'S3_REGION', 'S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY'].filter(isSet);
  const alone = (one: string, other: string) => ({
    [`${one} and ${other} must be set together, or neither`]: isSet(one) !== isSet(other),
  });
  return to.textsOf({
    [`S3_BUCKET must be set with ${ofBucket.join(', ')}`]: ofBucket.length > 0 && !isSet('S3_BUCKET'),
    'MEDIA_BASE_URL must be set with S3_BUCKET: the URL under which browsers find the bucket':
      isSet('S3_BUCKET') && !isSet('MEDIA_BASE_URL'),
    'S3_REGION must be set with S3_BUCKET, unless S3_ENDPOINT is':
      isSet('S3_BUCKET') && !isSet('S3_REGION') && !isSet('S3_ENDPOINT'),
    ...alone('S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY'),
    'TERMS_VERSION must be set with PRIVACY_VERSION': isSet('PRIVACY_VERSION') && !isSet('TERMS_VERSION'),
    ...alone('TERMS_VERSION', 'TERMS_URL'),
    ...alone('PRIVACY_VERSION', 'PRIVACY_URL'),
    'JWT_PRIVATE_KEY and JWT_PRIVATE_KEY_FILE must not both be set':
      isSet('JWT_PRIVATE_KEY') && isSet('JWT_PRIVATE_KEY_FILE'),
  });
}

/** Parts of passwords that are guessed first. */
const commonPassword =
  /admin|change|database|default|example|passw[o0]rd|postgres|secret|qwerty|abcdef|123456/i;

/** Warns about passwords of the database that are missing or common. The values are compared as they are in the URL. */
function findWeakPasswords(texts: Record<string, string | undefined>): string[] {
  return ['DATABASE_URL', 'DATABASE_DIRECT_URL', 'DATABASE_REPLICA_URL']
    .filter((name) => {
      const url = to.parseUrl(texts[name]);
      // Without a host it is a socket on this machine, where PostgreSQL checks the system's user.
      if (!url || url.hostname === '') return false;
      const { username, password, pathname } = url;
      const isName = [username, pathname.slice(1)].some(
        (known) => known.toLowerCase() === password.toLowerCase(),
      );
      return password.length < 8 || isName || commonPassword.test(password);
    })
    .map((name) => `${name} has no password or a common one: use a long random one`);
}
