import { generateKeyPairSync } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import t from 'tap';
import { loadConfig, loadDatabaseSettings } from '../../src/infrastructure/config/config.ts';
import { inspectConfig } from '../../src/infrastructure/config/environment.ts';
import { generatePrivateKey } from '../../src/infrastructure/config/keys.ts';
import { createTestApp } from '../support/app.ts';
import type { Json } from '../support/json.ts';
import { environmentNames, load, production, secret } from './environments.ts';

const pooledUrl = 'postgres://u:p@db.example.com:6432/dure?sslmode=require';
const days = 86_400;

/** Of an Android app: the SHA-256 of its signing certificate. */
const androidOrigin = `android:apk-key-hash:${'Ab0-_'.repeat(8)}xyz`;

/** Per variable: where the configuration has it, and a text with the value that it becomes, if it is another one. */
const variables: Record<string, [path: string, text: string, value?: unknown]> = {
  HOST: ['host', '::1'],
  PORT: ['port', '8080', 8080],
  METRICS_PORT: ['metricsPort', '9100', 9100],
  DURE_COMMIT: ['commit', '06b5718'],
  DATABASE_URL: ['database.url', pooledUrl],
  DATABASE_DIRECT_URL: ['database.directUrl', 'postgresql://u:p@db.example.com:5432/dure'],
  DATABASE_REPLICA_URL: ['database.replica.url', 'postgresql://u:p@replica.example.com/dure'],
  DATABASE_POOL_SIZE: ['database.poolSize', '25', 25],
  MIGRATE_ON_START: ['database.migrateOnStart', 'false', false],
  DATA_DIR: ['dataDirectory', '/var/lib/dure'],
  ACCESS_TOKEN_TTL: ['tokens.accessTtl', '500ms', 0.5],
  REFRESH_TOKEN_TTL: ['tokens.refreshTtl', '7d', 7 * days],
  SESSION_MAX_AGE: ['tokens.sessionMaxAge', '30d', 30 * days],
  REFRESH_REUSE_GRACE: ['tokens.reuseGrace', '0s', 0],
  EMAIL_VERIFICATION: ['email.verification', 'required'],
  EMAIL_CODE_TTL: ['email.codeTtl', '5m', 300],
  EMAIL_COOLDOWN: ['email.cooldown', '30s', 30],
  VERIFICATION_TOKEN_TTL: ['email.verificationTokenTtl', '15m', 900],
  PASSWORD_RESET_TTL: ['email.passwordResetTtl', '2h', 7200],
  UNVERIFIED_ACCOUNT_TTL: ['email.unverifiedAccountTtl', '60d', 60 * days],
  NOTIFICATION_TTL: ['notificationTtl', '90d', 90 * days],
  MATCH_TTL: ['matchTtl', '90d', 90 * days],
  PASSWORD_MIN_LENGTH: ['password.minLength', '12', 12],
  ARGON2_MEMORY_KIB: ['password.memoryCost', '65536', 65536],
  ARGON2_TIME_COST: ['password.timeCost', '3', 3],
  FRONTEND_URL: ['frontendUrl', 'https://a.example.com/x/', 'https://a.example.com/x'],
  PUBLIC_URL: ['publicUrl', 'https://api.example.com'],
  S3_BUCKET: ['images.s3.bucket', 'images'],
  S3_ENDPOINT: ['images.s3.endpoint', 'http://127.0.0.1:9000'],
  S3_REGION: ['images.s3.region', 'ap-northeast-2'],
  S3_ACCESS_KEY_ID: ['images.s3.credentials.accessKeyId', 'key'],
  S3_SECRET_ACCESS_KEY: ['images.s3.credentials.secretAccessKey', 'secret'],
  MEDIA_BASE_URL: ['images.baseUrl', 'https://cdn.test/x/', 'https://cdn.test/x'],
  RESEND_API_KEY: ['mail.resend.apiKey', 're_dK3vQ8wZ_unused'],
  RESEND_BASE_URL: ['mail.resend.baseUrl', 'http://127.0.0.1:9999'],
  MAIL_FROM: ['mail.from', 'hello@example.com'],
  VAPID_PRIVATE_KEY: ['vapid.privateKey', 'lf4hbWV9akSEqf-o-W3hlsb5lrPGeRusrH2IZrUcd2I'],
  VAPID_SUBJECT: ['vapid.subject', 'https://example.com/push'],
  PUSH_SERVICES: ['pushServices', 'push.example.com, *', ['push.example.com', '*']],
  QUOTA_POSTS_PER_DAY: ['quotas.postsPerDay', '0', 0],
  QUOTA_EDITS_PER_DAY: ['quotas.editsPerDay', '90', 90],
  QUOTA_REQUESTS_PER_DAY: ['quotas.requestsPerDay', '1000', 1000],
  CORS_ORIGINS: ['corsOrigins', 'https://a.test, capacitor://b,', ['https://a.test', 'capacitor://b']],
  PASSKEY_ORIGINS: ['passkeyOrigins', `https://a.test,${androidOrigin}`, ['https://a.test', androidOrigin]],
  TRUST_PROXY: ['trustProxy', '10.0.0.0/8, ::1,loopback', ['10.0.0.0/8', '::1', 'loopback']],
  TERMS_VERSION: ['consentDocuments.terms.version', '2026-01-31'],
  TERMS_URL: ['consentDocuments.terms.url', 'https://dure.example/terms'],
  PRIVACY_VERSION: ['consentDocuments.privacy.version', '2026-02-28'],
  PRIVACY_URL: ['consentDocuments.privacy.url', 'http://localhost/privacy?a=1#b'],
  REDIS_URL: ['redisUrl', 'rediss://redis.example.com:6380'],
  SHUTDOWN_DELAY: ['shutdownDelay', '5s', 5],
  RATE_LIMIT_ENABLED: ['rateLimitEnabled', 'false', false],
  WORKER_ENABLED: ['workerEnabled', 'false', false],
  DOCS_ENABLED: ['docsEnabled', 'false', false],
  LOG_LEVEL: ['logLevel', 'debug'],
  OTEL_EXPORTER_OTLP_ENDPOINT: ['otlpEndpoint', 'http://collector.example.com:4318'],
};

t.test('every variable is read', async (t) => {
  const at = (path: string) => path.split('.').reduce((value: Json, name) => value?.[name], config);
  const config = load(Object.fromEntries(Object.entries(variables).map(([name, [, text]]) => [name, text])));
  for (const [name, [path, text, value = text]] of Object.entries(variables))
    t.strictSame(at(path), value, name);
  const others = environmentNames.filter((name) =>
    /^LOGIN_|^JWT_PRIVATE_KEY|^(NODE_ENV|JWT_SECRET|UV_THREADPOOL_SIZE)$/.test(name),
  );
  t.strictSame([...Object.keys(variables), ...others].sort(), environmentNames.toSorted());
});

t.test('every variable that has a default has that of the documentation', async (t) => {
  const page = readFileSync('docs/configuration.md', 'utf8');
  const cells = [...page.matchAll(/^\| (`.*?) \| (.*?) \|/gm)];
  const documented = (name: string) => cells.find(([, names]) => names?.includes(`\`${name}\``))?.[2];
  for (const [name, text] of Object.entries(inspectConfig({}).texts).filter(([, text]) => text))
    if (name !== 'NODE_ENV') t.match(documented(name), `\`${text}\``, name);
  const config = load();
  t.match(config, {
    production: false,
    dataDirectory: resolve('.data'),
    images: { directory: resolve('.data/media'), baseUrl: 'http://localhost:3000/media' },
    publicUrl: 'http://localhost:3000',
    corsOrigins: ['http://localhost:5173'],
    passkeyOrigins: [],
    tokens: { accessTtl: 900, refreshTtl: 14 * days },
    vapid: { subject: 'mailto:no-reply@example.com' },
  });
  for (const part of [config.database.replica, config.images.s3, config.mail.resend, config.otlpEndpoint])
    t.equal(part, undefined, 'none');
  const { maxConcurrentHashes } = config.password;
  t.ok(maxConcurrentHashes >= 1 && maxConcurrentHashes <= availableParallelism());
});

t.test('the first of several secrets signs, with its bytes as they are but for blanks around', async (t) => {
  const [first, second, ...others] = load({ JWT_SECRET: ` ${secret} , another-${secret}\n` }).secrets;
  t.strictSame([first.key.toString(), second?.key.toString()], [secret, `another-${secret}`]);
  t.not(first.id, second?.id);
  t.strictSame(others, []);
});

t.test('the key of push messages is derived from the secret, in production only given', async (t) => {
  const derived = load().vapid;
  t.match(derived, { publicKey: /^B[\w-]{86}$/, privateKey: /^[\w-]{43}$/ });
  const { publicKey, privateKey = '' } = { ...derived };
  t.strictSame(load().vapid, derived, 'the same at each start');
  t.not(load({ JWT_SECRET: `another-${secret}` }).vapid?.privateKey, privateKey);
  t.equal(load(production).vapid, undefined);
  t.match(load({ ...production, VAPID_PRIVATE_KEY: privateKey }).vapid, { publicKey, privateKey });
});

t.test('private keys are read from a text, with line feeds or without, or from a file', async (t) => {
  const keys = [generatePrivateKey('ES256'), generatePrivateKey('EdDSA')];
  const text = keys.map(({ pem }) => pem).join('');
  const oneLine = text.replaceAll('\n', '\\n');
  const directory = t.testdir({ pem: `\n${text}\n`, line: oneLine });
  const texts = [text, oneLine, text.replaceAll('\n', '\r\n'), keys.map(({ pem }) => ` ${pem}`).join('\n')];
  for (const environment of [
    ...texts.map((value) => ({ JWT_PRIVATE_KEY: value })),
    ...['pem', 'line'].map((name) => ({ JWT_PRIVATE_KEY_FILE: join(directory, name) })),
  ])
    t.strictSame(load(environment).privateKeys, keys, JSON.stringify(environment));
  t.strictSame(load({ JWT_PRIVATE_KEY: '', JWT_PRIVATE_KEY_FILE: '' }).privateKeys, []);
});

t.test('an empty variable counts as not set', async (t) => {
  const names = 'HOST PORT DATABASE_URL RESEND_API_KEY TRUST_PROXY LOG_LEVEL REDIS_URL NODE_ENV'.split(' ');
  const config = load(Object.fromEntries(names.map((name) => [name, ''])));
  const defaults = { host: '127.0.0.1', port: 3000, trustProxy: false, logLevel: 'info' };
  t.match(config, { ...defaults, redisUrl: undefined });
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
    t.match(loadDatabaseSettings(variables).database, database, 'the command and the migrations');
  }
});

t.test('a secret is generated once, with mode 0600', async (t) => {
  const directory = join(t.testdir({ other: {} }), 'data');
  const first = loadConfig({ DATA_DIR: directory }).secrets[0];
  t.ok(first.key.length >= 48);
  const path = join(directory, 'jwt-secret');
  t.equal(statSync(path).mode & 0o777, 0o600);
  t.equal(statSync(directory).mode & 0o777, 0o700);
  t.strictSame(readdirSync(directory), ['jwt-secret'], 'nothing else is left');
  t.strictSame(loadConfig({ DATA_DIR: directory }).secrets[0], first);
  t.equal(readFileSync(path, 'utf8'), first.key.toString());
  const other = join(t.testdirName, 'other');
  t.notSame(loadConfig({ DATA_DIR: other }).secrets[0], first);
  const [set] = loadConfig({ DATA_DIR: directory, JWT_SECRET: secret }).secrets;
  t.equal(set.key.toString(), secret, 'one that is set wins');
});

t.test('in production, a password of the database that is missing or common is warned about', async (t) => {
  const strong = 'postgresql://dure:wQ3v9eLk2xRt7y@db/dure';
  const warningsOf = (name: string, rest: string) =>
    load({ ...production, DATABASE_URL: strong, [name]: `postgresql://${rest}` }).warnings;
  const common = [
    ...['dure@db/dure', 'dure:@db/dure', 'dure:dure@db/dure', 'app:postgres@db/dure', 'app:PASSWORD@db/dure'],
    ...['app:MySecretPassword@db/dure', 'app:123456789@db/dure', 'app:changeme@db/dure', 'app:k3J9x@db/dure'],
    ...['shopkeeper:shopkeeper@db/dure', 'app:neighbours@db/neighbours'],
  ];
  for (const name of ['DATABASE_URL', 'DATABASE_DIRECT_URL', 'DATABASE_REPLICA_URL']) {
    const warning = `${name} has no password or a common one: use a long random one`;
    for (const rest of common) t.strictSame(warningsOf(name, rest), [warning]);
  }
  for (const rest of ['dure:p%40ssage-Of-Cranes@db/dure', '/dure?host=/run'])
    t.strictSame(warningsOf('DATABASE_URL', rest), [], rest);
  t.strictSame(load({ DATABASE_URL: 'postgresql://dure:dure@db/dure' }).warnings, []);
  const app = await (await createTestApp()).startInstance(production);
  const logged = app.logs.map((line) => JSON.parse(line)).filter(({ level }) => level >= 40);
  t.match(logged, [{ level: 40, msg: /^DATABASE_URL / }]);
});

const client = (name: string) => ({
  [`LOGIN_${name}_CLIENT_ID`]: 'id',
  [`LOGIN_${name}_CLIENT_SECRET`]: 'secret',
});
const pemOf = (namedCurve: string) =>
  String(generateKeyPairSync('ec', { namedCurve }).privateKey.export({ type: 'pkcs8', format: 'pem' }));
const apple = {
  LOGIN_APPLE_CLIENT_ID: 'com.example.dure',
  LOGIN_APPLE_TEAM_ID: 'TEAM',
  LOGIN_APPLE_KEY_ID: 'KEY',
  LOGIN_APPLE_PRIVATE_KEY: pemOf('P-256').replaceAll('\n', '\\n'),
};

t.test('without LOGIN_PROVIDERS there is a provider for development, outside production only', async (t) => {
  for (const environment of [{}, { LOGIN_PROVIDERS: '' }]) {
    t.match(load(environment).loginProviders, [{ id: 'development', kind: 'development' }]);
    t.strictSame(loadConfig({ ...production, ...environment }).loginProviders, []);
  }
});

t.test('providers keep their order; the known ones need no issuer', async (t) => {
  const environment = {
    ...production,
    LOGIN_PROVIDERS: 'kakao, acme-id,apple,naver,google',
    ...client('KAKAO'),
    ...client('NAVER'),
    ...client('GOOGLE'),
    ...client('ACME_ID'),
    LOGIN_ACME_ID_ISSUER: 'https://login.acme.example/realm/',
    LOGIN_ACME_ID_DISPLAY_NAME: 'Acme',
    LOGIN_ACME_ID_SCOPES: 'openid email',
    ...apple,
  };
  const scope = 'openid email profile';
  const acme = { id: 'acme-id', issuer: 'https://login.acme.example/realm/' };
  t.match(loadConfig(environment).loginProviders, [
    { kind: 'kakao', issuer: 'https://kauth.kakao.com', userInfoUrl: 'https://kapi.kakao.com/v2/user/me' },
    { ...acme, kind: 'openid', name: { ko: 'Acme', en: 'Acme' }, scope: 'openid email' },
    { kind: 'apple', issuer: 'https://appleid.apple.com', privateKey: /^-----BEGIN PRIVATE KEY-----\n/ },
    { kind: 'naver', issuer: 'https://nid.naver.com', apiUrl: 'https://openapi.naver.com' },
    { kind: 'openid', id: 'google', issuer: 'https://accounts.google.com', scope },
  ]);
});

t.test('what is missing or wrong is listed, by the variable and without secrets', async (t) => {
  const problemsOf = (environment: Record<string, string>) =>
    inspectConfig({ ...production, ...environment }).problems;
  const of = (name: string, environment: Record<string, string> = {}) => ({
    LOGIN_PROVIDERS: name,
    ...client(name.toUpperCase()),
    ...environment,
  });
  const wrong: [problem: RegExp, environment: Record<string, string>][] = [
    [/LOGIN_KAKAO_CLIENT_ID must be set/, of('kakao', { LOGIN_KAKAO_CLIENT_ID: '' })],
    [/LOGIN_NAVER_CLIENT_SECRET must be set/, of('naver', { LOGIN_NAVER_CLIENT_SECRET: '' })],
    [/LOGIN_ACME_ISSUER must be set/, of('acme')],
    [/LOGIN_ACME_ISSUER must be https/, of('acme', { LOGIN_ACME_ISSUER: 'http://acme.example' })],
    [/LOGIN_NAVER_API_URL must be https/, of('naver', { LOGIN_NAVER_API_URL: 'http://a.example' })],
    [/LOGIN_KAKAO_USER_INFO_URL must be a URL/, of('kakao', { LOGIN_KAKAO_USER_INFO_URL: 'me' })],
    [/LOGIN_GOOGLE_SCOPES must hold openid/, of('google', { LOGIN_GOOGLE_SCOPES: 'email' })],
    ...[secret, pemOf('P-384')].map((key): [RegExp, Record<string, string>] => [
      /LOGIN_APPLE_PRIVATE_KEY must be the key/,
      { LOGIN_PROVIDERS: 'apple', ...apple, LOGIN_APPLE_PRIVATE_KEY: key },
    ]),
    [/LOGIN_PROVIDERS must not name a provider twice/, of('kakao', { LOGIN_PROVIDERS: 'kakao,kakao' })],
    // A provider of that name would count as another method of the session.
    ...['development', 'passkey', 'totp', 'password', 'Kakao', '1a', 'a_b', 'a'.repeat(31)].map(
      (name): [RegExp, Record<string, string>] => [/LOGIN_PROVIDERS holds "/, { LOGIN_PROVIDERS: name }],
    ),
  ];
  for (const [problem, environment] of wrong) {
    const problems = problemsOf(environment);
    t.match(problems, [problem], JSON.stringify(environment));
    t.equal(problems.length, 1, problems.join());
    t.notMatch(problems.join(), secret);
  }
});
