import { isIP } from 'node:net';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { readConsentDocuments } from './consent-documents.ts';
import { type DatabaseLocation, readDatabase, readReplica } from './database-settings.ts';
import {
  ConfigError,
  type Environment,
  parseUrl,
  readEnvironment,
  seconds,
  splitList,
  withoutSlash,
} from './environment.ts';
import { readLoginProviders } from './login-providers.ts';
import { readOrigins } from './origins.ts';
import { readPrivateKeys } from './private-keys.ts';
import { isResendKey, readSecrets } from './secrets.ts';
import { readPushServices, readVapid } from './vapid.ts';
import { findWarnings } from './warnings.ts';

export { ConfigError } from './environment.ts';
export type { LoginProviderSettings } from './login-providers.ts';
export type { PrivateKey } from './private-keys.ts';
export type { Secret } from './secrets.ts';

/** The configuration, validated and converted. Durations are in seconds. */
export type Config = ReturnType<typeof buildConfig>;

/** How many times longer than in production work may take: tests set it, for slow machines, and no variable does. */
export interface Patience {
  limitFactor?: number;
}

/** A configuration with the location of the database: of the variables, or of the embedded server once it runs. */
export type AppConfig = Config & Patience & { database: DatabaseLocation };

/** Adds the location of the database to a configuration. */
export function withDatabase(config: Config, { url, directUrl, pooled }: DatabaseLocation): AppConfig {
  return { ...config, database: { ...config.database, url, directUrl, pooled } };
}

/**
 * Reads the configuration from environment variables; called once, at start.
 *
 * @param source the environment, `process.env` in production
 * @param options `generateSecret`: whether a missing secret is generated, outside production
 * @throws {ConfigError} with every problem
 */
export function loadConfig(source: NodeJS.ProcessEnv, { generateSecret = true } = {}): Config {
  const { config, problems } = inspectConfig(source, generateSecret);
  if (problems.length > 0) throw new ConfigError(problems);
  return config;
}

/** Reads the configuration as {@link loadConfig} does, but returns the problems, and generates no secret. */
export function inspectConfig(source: NodeJS.ProcessEnv, generateSecret = false) {
  const problems: string[] = [];
  const environment = readEnvironment(source, problems);
  return { environment, config: buildConfig(environment, source, problems, generateSecret), problems };
}

function buildConfig(
  environment: Environment,
  source: NodeJS.ProcessEnv,
  problems: string[],
  generateSecret: boolean,
) {
  const production = environment.NODE_ENV === 'production';
  const dataDirectory = resolve(environment.DATA_DIR);
  const secrets = readSecrets(environment.JWT_SECRET, production, dataDirectory, problems, generateSecret);
  if (production) requireInProduction(environment, problems);
  if (environment.MAIL_FROM && !mailAddress.test(environment.MAIL_FROM)) {
    problems.push('MAIL_FROM must be an address, as in "Dure <no-reply@example.com>"');
  }
  if (environment.METRICS_PORT === environment.PORT) {
    problems.push('METRICS_PORT must differ from PORT, which is for clients');
  }
  const frontendUrl = withoutSlash(environment.FRONTEND_URL ?? 'http://localhost:5173');
  const frontendOrigin = originOf(frontendUrl);
  const publicUrl = withoutSlash(environment.PUBLIC_URL ?? `http://localhost:${environment.PORT}`);
  const mailFrom = environment.MAIL_FROM ?? 'Dure <no-reply@example.com>';
  const resend = environment.RESEND_API_KEY
    ? { apiKey: environment.RESEND_API_KEY, baseUrl: environment.RESEND_BASE_URL }
    : undefined;
  const { CORS_ORIGINS = production ? '' : frontendOrigin, PASSKEY_ORIGINS = '' } = environment;
  const corsOrigins = readOrigins('CORS_ORIGINS', CORS_ORIGINS, problems);

  return {
    production,
    /** Settings that work but are weak, for the log. */
    warnings: findWarnings(environment),
    host: environment.HOST ?? (production ? '0.0.0.0' : '127.0.0.1'),
    port: environment.PORT,
    /** Serves `/metrics` in place of {@link port}. */
    metricsPort: environment.METRICS_PORT,
    dataDirectory,
    database: {
      ...readDatabase(environment),
      replica: readReplica(environment),
      poolSize: environment.DATABASE_POOL_SIZE,
      migrateOnStart: environment.MIGRATE_ON_START ?? !production,
    },
    secrets,
    /** The first one signs access tokens, the first secret does without any. All verify. */
    privateKeys: readPrivateKeys(environment, problems),
    tokens: {
      accessTtl: seconds(environment.ACCESS_TOKEN_TTL),
      refreshTtl: seconds(environment.REFRESH_TOKEN_TTL),
      sessionMaxAge: seconds(environment.SESSION_MAX_AGE),
      reuseGrace: seconds(environment.REFRESH_REUSE_GRACE),
    },
    email: {
      verification: environment.EMAIL_VERIFICATION,
      codeTtl: seconds(environment.EMAIL_CODE_TTL),
      cooldown: seconds(environment.EMAIL_COOLDOWN),
      verificationTokenTtl: seconds(environment.VERIFICATION_TOKEN_TTL),
      passwordResetTtl: seconds(environment.PASSWORD_RESET_TTL),
      unverifiedAccountTtl: seconds(environment.UNVERIFIED_ACCOUNT_TTL),
    },
    /** Seconds after which a notification that was read is deleted; 0: never. */
    notificationTtl: seconds(environment.NOTIFICATION_TTL),
    password: {
      minLength: environment.PASSWORD_MIN_LENGTH,
      memoryCost: environment.ARGON2_MEMORY_KIB,
      timeCost: environment.ARGON2_TIME_COST,
      /** As many as there are cores, but two threads stay for files and DNS. */
      maxConcurrentHashes: Math.max(1, Math.min(availableParallelism(), environment.UV_THREADPOOL_SIZE - 2)),
    },
    frontendUrl,
    /** Under which clients reach the service, without a slash at its end. */
    publicUrl,
    images: {
      /** Where browsers find uploaded images, without a slash at its end. */
      baseUrl: withoutSlash(environment.MEDIA_BASE_URL ?? `${publicUrl}/media`),
      /** Folder of the uploaded images, unless they are in S3. */
      directory: resolve(dataDirectory, 'media'),
      s3: readImageStore(environment, problems),
    },
    mail: { from: mailFrom, resend },
    /** Of push messages; undefined where there are none. */
    vapid: readVapid(environment, secrets[0], mailFrom, problems),
    pushServices: readPushServices(environment, problems),
    /** Of one store in 24 hours; 0: no quota. */
    quotas: {
      postsPerDay: environment.QUOTA_POSTS_PER_DAY,
      editsPerDay: environment.QUOTA_EDITS_PER_DAY,
      requestsPerDay: environment.QUOTA_REQUESTS_PER_DAY,
    },
    /** Of pages that may read responses. Production names them; outside it there is the frontend of a developer, on another port. */
    corsOrigins,
    /** Of apps and pages that may use passkeys besides those. */
    passkeyOrigins: readOrigins('PASSKEY_ORIGINS', PASSKEY_ORIGINS, problems),
    /** Of pages that may use the refresh token in the cookie: of the frontend, which may be that of the service, and the others. */
    pageOrigins: [frontendOrigin, ...corsOrigins].filter(Boolean),
    /** In the order in which a page shows them. */
    loginProviders: readLoginProviders(environment, source, problems),
    /** What users agree to at sign-up; empty where they need not. */
    consentDocuments: readConsentDocuments(environment, problems),
    trustProxy: readTrustProxy(environment.TRUST_PROXY, problems),
    redisUrl: environment.REDIS_URL,
    /** How long the instance serves on after SIGTERM, while readiness fails. */
    shutdownDelay: seconds(environment.SHUTDOWN_DELAY),
    rateLimitEnabled: environment.RATE_LIMIT_ENABLED,
    workerEnabled: environment.WORKER_ENABLED,
    docsEnabled: environment.DOCS_ENABLED ?? !production,
    logLevel: environment.LOG_LEVEL,
    /** Of the build, for the metrics. */
    commit: environment.DURE_COMMIT,
    otlpEndpoint: environment.OTEL_EXPORTER_OTLP_ENDPOINT,
  };
}

const mailAddress = /^([^<>\r\n]+ <[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/;

function requireInProduction(environment: Environment, problems: string[]): void {
  const required = [
    'DATABASE_URL',
    'JWT_SECRET',
    'RESEND_API_KEY',
    'MAIL_FROM',
    'FRONTEND_URL',
    'PUBLIC_URL',
  ] as const;
  for (const name of required) {
    if (!environment[name]) problems.push(`${name} must be set in production`);
  }
  if (environment.RESEND_API_KEY && !isResendKey(environment.RESEND_API_KEY)) {
    problems.push('RESEND_API_KEY must be an API key of Resend: it begins with re_ and is no placeholder');
  }
}

/**
 * The bucket of the images; undefined for the disk.
 *
 * @param problems gets one line for each variable that is missing
 */
function readImageStore(environment: Environment, problems: string[]) {
  const { S3_BUCKET: bucket, S3_ENDPOINT: endpoint, S3_REGION: region } = environment;
  const { S3_ACCESS_KEY_ID: accessKeyId, S3_SECRET_ACCESS_KEY: secretAccessKey } = environment;
  if (bucket === undefined) {
    const others = ['S3_ENDPOINT', 'S3_REGION', 'S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY'] as const;
    const given = others.filter((name) => environment[name] !== undefined);
    if (given.length > 0) problems.push(`S3_BUCKET must be set with ${given.join(', ')}`);
    return undefined;
  }
  if (!environment.MEDIA_BASE_URL) {
    problems.push('MEDIA_BASE_URL must be set with S3_BUCKET: the URL under which browsers find the bucket');
  }
  if (region === undefined && endpoint === undefined) {
    problems.push('S3_REGION must be set with S3_BUCKET, unless S3_ENDPOINT is');
  }
  if ((accessKeyId === undefined) !== (secretAccessKey === undefined)) {
    problems.push('S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY must be set together, or neither');
  }
  const credentials = accessKeyId && secretAccessKey ? { accessKeyId, secretAccessKey } : undefined;
  return { bucket, endpoint, region: region ?? 'us-east-1', credentials };
}

/** The origin of a page; empty for a URL that is not accepted. Never `null`, which is the origin of a sandboxed frame. */
function originOf(url: string): string {
  return /^https?:/.test(url) ? (parseUrl(url)?.origin ?? '') : '';
}

function readTrustProxy(value: string, problems: string[]): string[] | false {
  if (value === 'false') return false;
  const proxies = splitList(value);
  for (const proxy of proxies) {
    if (!['loopback', 'linklocal', 'uniquelocal'].includes(proxy) && !isAddressOrRange(proxy)) {
      problems.push(`TRUST_PROXY holds "${proxy}", which is neither an address nor a CIDR range`);
    }
  }
  return proxies;
}

function isAddressOrRange(text: string): boolean {
  const [address = '', bits = '1', ...rest] = text.split('/');
  const longest = { 4: 32, 6: 128 }[isIP(address)] ?? 0;
  return /^[1-9]\d{0,2}$/.test(bits) && Number(bits) <= longest && rest.length === 0;
}
