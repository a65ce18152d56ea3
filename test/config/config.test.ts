import { readdirSync, readFileSync, statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import t from 'tap';
import { loadConfig, withDatabase } from '../../src/infrastructure/config/config.ts';
import { loadDatabaseSettings } from '../../src/infrastructure/config/database-settings.ts';
import { load, production, secret, temporaryDirectory } from './environments.ts';

t.test('without any variable the defaults hold', async (t) => {
  const directory = temporaryDirectory(t);
  const config = loadConfig({ DATA_DIR: directory });
  t.match(config, {
    production: false,
    host: '127.0.0.1',
    port: 3000,
    metricsPort: undefined,
    dataDirectory: directory,
    database: { url: undefined, directUrl: undefined, poolSize: 10, migrateOnStart: true },
    tokens: { accessTtl: 900, refreshTtl: 14 * 86400, sessionMaxAge: 90 * 86400, reuseGrace: 10 },
    email: {
      verification: 'optional',
      codeTtl: 600,
      cooldown: 60,
      verificationTokenTtl: 1800,
      passwordResetTtl: 3600,
      unverifiedAccountTtl: 30 * 86400,
    },
    password: { minLength: 8, memoryCost: 19456, timeCost: 2 },
    frontendUrl: 'http://localhost:5173',
    images: { baseUrl: 'http://localhost:3000/media', directory: resolve(directory, 'media'), s3: undefined },
    mail: { resend: undefined },
    quotas: { postsPerDay: 30, editsPerDay: 60, requestsPerDay: 100 },
    corsOrigins: ['http://localhost:5173'],
    trustProxy: false,
    redisUrl: undefined,
    rateLimitEnabled: true,
    docsEnabled: true,
    logLevel: 'info',
    otlpEndpoint: undefined,
  });
  t.equal(load().dataDirectory, resolve('.data'));
  t.ok(
    config.password.maxConcurrentHashes >= 1 && config.password.maxConcurrentHashes <= availableParallelism(),
  );
});

t.test('every variable is read', async (t) => {
  const config = load({
    HOST: '::1',
    PORT: '8080',
    METRICS_PORT: '9100',
    DURE_COMMIT: '06b5718',
    DATABASE_URL: 'postgres://u:p@db.example.com:6432/dure?sslmode=require',
    DATABASE_DIRECT_URL: 'postgresql://u:p@db.example.com:5432/dure',
    DATABASE_POOL_SIZE: '25',
    DATA_DIR: '/var/lib/dure',
    JWT_SECRET: `${secret},another-${secret}`,
    ACCESS_TOKEN_TTL: '500ms',
    REFRESH_TOKEN_TTL: '7d',
    SESSION_MAX_AGE: '30d',
    REFRESH_REUSE_GRACE: '0s',
    EMAIL_CODE_TTL: '5m',
    EMAIL_COOLDOWN: '30s',
    VERIFICATION_TOKEN_TTL: '15m',
    PASSWORD_RESET_TTL: '2h',
    UNVERIFIED_ACCOUNT_TTL: '60d',
    EMAIL_VERIFICATION: 'required',
    PASSWORD_MIN_LENGTH: '12',
    ARGON2_MEMORY_KIB: '65536',
    ARGON2_TIME_COST: '3',
    FRONTEND_URL: 'https://app.example.com/shop/',
    S3_BUCKET: 'images',
    S3_ENDPOINT: 'http://127.0.0.1:9000',
    S3_REGION: 'ap-northeast-2',
    S3_ACCESS_KEY_ID: 'key',
    S3_SECRET_ACCESS_KEY: 'secret',
    MEDIA_BASE_URL: 'https://cdn.example.com/images/',
    RESEND_API_KEY: 're_dK3vQ8wZ_unused',
    RESEND_BASE_URL: 'http://127.0.0.1:9999',
    MAIL_FROM: 'hello@example.com',
    QUOTA_POSTS_PER_DAY: '0',
    QUOTA_EDITS_PER_DAY: '90',
    QUOTA_REQUESTS_PER_DAY: '1000',
    CORS_ORIGINS: 'https://a.example.com, http://localhost:5173,',
    TRUST_PROXY: '10.0.0.0/8, ::1,loopback',
    REDIS_URL: 'rediss://redis.example.com:6380',
    RATE_LIMIT_ENABLED: 'false',
    WORKER_ENABLED: 'false',
    DOCS_ENABLED: 'false',
    MIGRATE_ON_START: 'false',
    LOG_LEVEL: 'debug',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector.example.com:4318',
  });
  t.match(config, {
    host: '::1',
    port: 8080,
    metricsPort: 9100,
    commit: '06b5718',
    dataDirectory: '/var/lib/dure',
    database: {
      url: 'postgres://u:p@db.example.com:6432/dure?sslmode=require',
      directUrl: 'postgresql://u:p@db.example.com:5432/dure',
      poolSize: 25,
      migrateOnStart: false,
    },
    tokens: { accessTtl: 0.5, refreshTtl: 7 * 86400, sessionMaxAge: 30 * 86400, reuseGrace: 0 },
    email: {
      verification: 'required',
      codeTtl: 300,
      cooldown: 30,
      verificationTokenTtl: 900,
      passwordResetTtl: 7200,
      unverifiedAccountTtl: 60 * 86400,
    },
    password: { minLength: 12, memoryCost: 65536, timeCost: 3 },
    frontendUrl: 'https://app.example.com/shop',
    images: {
      baseUrl: 'https://cdn.example.com/images',
      directory: '/var/lib/dure/media',
      s3: {
        bucket: 'images',
        endpoint: 'http://127.0.0.1:9000',
        region: 'ap-northeast-2',
        credentials: { accessKeyId: 'key', secretAccessKey: 'secret' },
      },
    },
    mail: {
      from: 'hello@example.com',
      resend: { apiKey: 're_dK3vQ8wZ_unused', baseUrl: 'http://127.0.0.1:9999' },
    },
    quotas: { postsPerDay: 0, editsPerDay: 90, requestsPerDay: 1000 },
    corsOrigins: ['https://a.example.com', 'http://localhost:5173'],
    trustProxy: ['10.0.0.0/8', '::1', 'loopback'],
    redisUrl: 'rediss://redis.example.com:6380',
    rateLimitEnabled: false,
    workerEnabled: false,
    docsEnabled: false,
    logLevel: 'debug',
    otlpEndpoint: 'http://collector.example.com:4318',
  });
  t.equal(config.secrets.length, 2);
  t.equal(config.secrets[0].key.toString(), secret, 'the bytes as they are');
  t.equal(config.secrets[1]?.key.toString(), `another-${secret}`);
  t.not(config.secrets[0].id, config.secrets[1]?.id);
});

t.test('an empty variable counts as not set', async (t) => {
  const names = 'HOST PORT DATABASE_URL RESEND_API_KEY TRUST_PROXY LOG_LEVEL REDIS_URL NODE_ENV'.split(' ');
  const config = load(Object.fromEntries(names.map((name) => [name, ''])));
  t.match(config, {
    host: '127.0.0.1',
    port: 3000,
    trustProxy: false,
    logLevel: 'info',
    redisUrl: undefined,
  });
});

t.test('in production it listens on all addresses, without documentation and migrations', async (t) => {
  t.match(loadConfig(production), {
    production: true,
    host: '0.0.0.0',
    docsEnabled: false,
    database: { migrateOnStart: false },
  });
  t.match(loadConfig({ ...production, DOCS_ENABLED: 'true', MIGRATE_ON_START: 'true', HOST: '127.0.0.1' }), {
    host: '127.0.0.1',
    docsEnabled: true,
    database: { migrateOnStart: true },
  });
});

t.test('one of the two URLs of the database is enough', async (t) => {
  const url = 'postgresql://pooler/dure';
  const directUrl = 'postgresql://direct/dure';
  for (const [variables, database] of [
    [{ DATABASE_URL: url }, { url, directUrl: url, pooled: false }],
    [{ DATABASE_DIRECT_URL: directUrl }, { url: directUrl, directUrl, pooled: false }],
    [
      { DATABASE_URL: url, DATABASE_DIRECT_URL: directUrl },
      { url, directUrl, pooled: true },
    ],
    [{}, { url: undefined, directUrl: undefined, pooled: false }],
  ] as const) {
    t.match(load(variables).database, database, 'the service');
    t.strictSame(loadDatabaseSettings(variables).database, database, 'the command and the migrations');
  }
});

t.test('the configuration is frozen', async (t) => {
  const url = 'postgresql://localhost/dure';
  const location = { url, directUrl: url, pooled: false };
  for (const config of [load(), withDatabase(load(), location)]) {
    const { database, tokens, secrets, corsOrigins, mail } = config;
    for (const object of [config, database, tokens, secrets, secrets[0], corsOrigins, mail])
      t.ok(Object.isFrozen(object));
  }
});

t.test('a secret is generated once, with mode 0600', async (t) => {
  const directory = join(temporaryDirectory(t), 'data');
  const first = loadConfig({ DATA_DIR: directory }).secrets[0];
  t.ok(first.key.length >= 48);
  const path = join(directory, 'jwt-secret');
  t.equal(statSync(path).mode & 0o777, 0o600);
  t.equal(statSync(directory).mode & 0o777, 0o700);
  t.strictSame(readdirSync(directory), ['jwt-secret'], 'nothing else is left');
  t.strictSame(loadConfig({ DATA_DIR: directory }).secrets[0], first);
  t.equal(readFileSync(path, 'utf8'), first.key.toString());
  const other = temporaryDirectory(t);
  t.notSame(loadConfig({ DATA_DIR: other }).secrets[0], first);
  t.equal(
    loadConfig({ DATA_DIR: directory, JWT_SECRET: secret }).secrets[0].key.toString(),
    secret,
    'one that is set wins',
  );
  t.strictSame(readdirSync(temporaryDirectory(t)), []);
});
