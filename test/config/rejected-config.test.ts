import { createHash, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { ConfigError, loadConfig } from '../../src/infrastructure/config/config.ts';
import { load, production, secret } from './environments.ts';

/** The lines of a rejected configuration's message. */
function problems(t: Test, environment: Record<string, string | undefined>): string[] {
  try {
    loadConfig(environment);
  } catch (error) {
    t.ok(error instanceof ConfigError);
    if (error instanceof Error) return error.message.split('\n').slice(1);
  }
  t.fail(`accepted: ${JSON.stringify(environment)}`);
  return [];
}

/** Asserts that a variable is rejected, alone and by name. */
function rejected(t: Test, name: string, ...values: string[]): void {
  for (const value of values) {
    const found = problems(t, { JWT_SECRET: secret, [name]: value });
    t.equal(found.length, 1, `${name}=${value}: ${found.join()}`);
    t.match(found[0], name);
  }
}

t.test('production without what it needs fails with one message that lists everything', async (t) => {
  const needed = ['DATABASE_URL', 'JWT_SECRET', 'RESEND_API_KEY', 'MAIL_FROM', 'FRONTEND_URL', 'PUBLIC_URL'];
  const namesOf = (environment: Record<string, string>) =>
    problems(t, { NODE_ENV: 'production', ...environment }).map((line) => /[A-Z]\w+/.exec(line)?.[0]);
  t.strictSame(namesOf({}).sort(), needed.toSorted());
  const weak = {
    DATABASE_URL: 'mysql://db.example.com/dure',
    JWT_SECRET: 'secret',
    RESEND_API_KEY: 're_1',
    MAIL_FROM: 'nobody',
    FRONTEND_URL: 'http://app.example.com',
  };
  t.strictSame(namesOf(weak).sort(), needed.toSorted());
  const texts = { PORT: 'x', LOG_LEVEL: 'x', JWT_PRIVATE_KEY: 'x' };
  const wrong = { ...texts, ACCESS_TOKEN_TTL: '15', TRUST_PROXY: 'true', CORS_ORIGINS: '*' };
  const others = needed.filter((name) => name !== 'JWT_SECRET');
  t.strictSame(namesOf({ ...wrong, JWT_SECRET: secret }).sort(), [...Object.keys(wrong), ...others].sort());
});

t.test('the message never shows a secret', async (t) => {
  const secrets = {
    JWT_SECRET: 'hunter2',
    RESEND_API_KEY: 'hunter2',
    DATABASE_URL: 'mysql://u:hunter2@db/dure',
  };
  const found = problems(t, { ...production, ...secrets });
  t.equal(found.length, 3);
  t.notMatch(found.join(), 'hunter2');
});

t.test('URLs that the driver of the database would misread are rejected', async (t) => {
  const urls = ['u:p#w@db/dure', 'u:p/w@db/dure', 'u:100%@db/dure', 'u:p@db/dure?sslmode=allow'];
  const missing = ['u:p@db/dure?sslmode=verify-full&sslrootcert=/nowhere/ca.pem'];
  rejected(t, 'DATABASE_URL', ...[...urls, ...missing].map((rest) => `postgres://${rest}`));
});

t.test('weak secrets are rejected in every environment', async (t) => {
  const weak = ['x', 'x'.repeat(64), 'abc'.repeat(20), secret.slice(0, 31), `${secret},short`, `${secret},`];
  rejected(t, 'JWT_SECRET', ...weak);
  const bytes = `${'비밀'.repeat(3)}abcdefghijklmnopq`;
  t.equal(load({ JWT_SECRET: bytes }).secrets[0].key.length, 35, 'bytes are counted');
});

t.test('private keys that cannot sign are rejected, and the message says why', async (t) => {
  const pemOf = (key: KeyObject, options: object = {}) =>
    String(key.export({ type: 'pkcs8', format: 'pem', ...options }));
  const p256 = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { privateKey: key } = p256;
  const good = pemOf(key);
  const wrong: [value: string, message: RegExp][] = [
    [secret, /PEM form/],
    [good.slice(0, -20), /PEM form/],
    [`${good}${secret}`, /PEM form/],
    [good + pemOf(generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey), /number 2 must be/],
    ...[
      good.replace('MIG', 'MIH'),
      pemOf(generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey),
      pemOf(generateKeyPairSync('ed448').privateKey),
      pemOf(key, { cipher: 'aes-256-cbc', passphrase: 'hunter2' }),
      pemOf(p256.publicKey, { type: 'spki' }),
    ].map((pem): [string, RegExp] => [pem, /number 1 must be of the curve P-256 or Ed25519/]),
    [good + good, /same key twice/],
  ];
  for (const [value, message] of wrong) {
    const found = problems(t, { JWT_SECRET: secret, JWT_PRIVATE_KEY: value });
    t.equal(found.length, 1);
    t.match(found[0], /^ {2}- JWT_PRIVATE_KEY /);
    t.match(found[0], message);
    t.notMatch(found[0], value.split('\n')[1] ?? value, 'it never shows the key');
  }
  const folder = t.testdir({ empty: '', good });
  const file = join(folder, 'empty');
  const both = { JWT_PRIVATE_KEY: good, JWT_PRIVATE_KEY_FILE: join(folder, 'good') };
  const message = /JWT_PRIVATE_KEY and JWT_PRIVATE_KEY_FILE must not both/;
  t.match(problems(t, { JWT_SECRET: secret, ...both }), [message]);
  rejected(t, 'JWT_PRIVATE_KEY_FILE', '/nowhere/key.pem', file, dirname(file));
});

t.test('placeholder secrets are rejected in production', async (t) => {
  const placeholders = [
    'please-change-this-to-a-long-random-string',
    'CHANGEME-changeme-Changeme-cHaNgEmE-1',
    'your-secret-here-0a1b2c3d4e5f6g7h8i9j',
    'super-secret-jwt-token-with-at-least-32-characters-long',
    'a-string-secret-at-least-256-bits-long',
    'replace_me_zK4mP9wQ2xV7bN5cT8rY1uE3iO6',
    '<output of openssl rand -base64 48 here>',
    secret.slice(0, 20).repeat(2),
    `${secret},${secret.slice(0, 17).repeat(3).slice(0, 40)}`,
    `${secret},please-change-this-to-a-long-random-string`,
  ];
  for (const placeholder of placeholders) {
    t.match(problems(t, { ...production, JWT_SECRET: placeholder }), [/JWT_SECRET/], placeholder);
    t.doesNotThrow(() => load({ JWT_SECRET: placeholder }), 'outside production it is only a secret');
  }
  for (let count = 0; count < 200; count++) {
    // The same ones in each run: one in a million random texts looks like a placeholder.
    const bytes = createHash('sha512').update(String(count)).digest();
    const random = [bytes.toString('base64').slice(0, 64), bytes.toString('hex').slice(0, 64)].join();
    t.doesNotThrow(() => loadConfig({ ...production, JWT_SECRET: random }), random);
  }
});

t.test('an API key that cannot be one of Resend is rejected in production', async (t) => {
  const wrong = [
    ...['sk_live_aK4mT9wZq2by8', 'aK4mT9wZ_q2by8', 'RE_aK4mT9wZ_q2by8', 're_', 're_1', 're_xxxxxxxx'],
    ...['re_xxxxxxxxx_xxxxxxxxxxxxxxxxxxxxxxx', 're_insecure', 're_your_api_key', 're_YOUR-KEY-HERE'],
    ...['re_changeme', 're_<key>'],
  ];
  for (const key of wrong) {
    t.match(problems(t, { ...production, RESEND_API_KEY: key }), [/RESEND_API_KEY/], key);
    t.doesNotThrow(() => load({ RESEND_API_KEY: key, MAIL_FROM: production.MAIL_FROM }));
  }
  for (const key of ['re_aK4mT9wZ_q2by8', 're_test_0123456789', 're_CZ4AaBqE_8FU8hXdyXJbqWq4sA3vuGzKx'])
    t.doesNotThrow(() => loadConfig({ ...production, RESEND_API_KEY: key }), key);
});

/** Values that are rejected, by the variable; a value has no blank unless it is in a list. */
const invalid: Record<string, string | string[]> = {
  PORT: 'x -1 65536 80.5',
  METRICS_PORT: 'x 0 65536 3000',
  DATABASE_POOL_SIZE: '0 1 many',
  DATABASE_URL: 'db.example.com http://db.example.com postgres',
  DATABASE_REPLICA_URL: 'replica.example.com http://replica.example.com postgres',
  EMAIL_VERIFICATION: 'yes REQUIRED',
  PASSWORD_MIN_LENGTH: '7 129 x',
  QUOTA_POSTS_PER_DAY: '-1 1000001 1.5 none',
  QUOTA_EDITS_PER_DAY: '-1 1000001 1.5 none',
  QUOTA_REQUESTS_PER_DAY: '-1 1000001 1.5 none',
  ARGON2_MEMORY_KIB: '8 x',
  ARGON2_TIME_COST: '0 x',
  FRONTEND_URL: 'app.example.com ftp://x.example https://x.example/?a=1 https://x.example/#/',
  RESEND_BASE_URL: 'nowhere ftp://x.example',
  MAIL_FROM: ['nobody', 'a b@example.com', 'X <a@b', 'X <a@b>\r\nBcc: c@d'],
  // Too short, too long, padded, 0, the order of the curve.
  VAPID_PRIVATE_KEY: [
    'lf4hbWV9akSEqf-o-W3hlsb5lrPGeRusrH2IZrUcd2',
    'lf4hbWV9akSEqf-o-W3hlsb5lrPGeRusrH2IZrUcd2IA',
    'lf4hbWV9akSEqf-o-W3hlsb5lrPGeRusrH2IZrUcd2I=',
    'A'.repeat(43),
    '_____wAAAAD__________7zm-q2nF56E87nKwvxjJVE',
  ],
  VAPID_SUBJECT: 'push@example.com mailto:push http://example.com',
  PUSH_SERVICES: 'https://push.example.com push.example.com:443 *.com* 10.0.0.1 push localhost',
  PASSKEY_ORIGINS:
    'android:apk-key-hash:abc https://app.example.com/ https://*.example.com android:apk-key-hash:*',
  CORS_ORIGINS:
    '* app.example.com https://app.example.com/ https://a.example,null https://*.example.com capacitor:// capacitor://a/',
  TRUST_PROXY: 'true 1 proxy 10.0.0.0/0 10.0.0.0/33 ::1/129 10.0.0.0/8/9 10.0.0.0/',
  REDIS_URL: 'redis.example.com http://redis.example.com',
  RATE_LIMIT_ENABLED: 'yes on',
  DOCS_ENABLED: 'maybe',
  MIGRATE_ON_START: 'maybe',
  LOG_LEVEL: 'verbose INFO',
  OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318',
  S3_ENDPOINT: 'https://s3.example.com',
  MEDIA_BASE_URL: 'cdn.example.com https://cdn.example.com/?a=1',
};

t.test('invalid values are rejected', async (t) => {
  for (const [name, values] of Object.entries(invalid))
    rejected(t, name, ...(Array.isArray(values) ? values : values.split(' ')));
  const local = { ...production, FRONTEND_URL: 'http://localhost:5173' };
  t.doesNotThrow(() => loadConfig(local), 'https is for other machines');
  const open = problems(t, { ...production, RESEND_BASE_URL: 'http://mail.example.com' });
  t.match(open, [/RESEND_BASE_URL must be https/], 'the API key is sent there');
});

t.test('in production push services can reach the subject of the key', async (t) => {
  const VAPID_PRIVATE_KEY = 'lf4hbWV9akSEqf-o-W3hlsb5lrPGeRusrH2IZrUcd2I';
  for (const host of ['localhost', 'a.localhost', 'a.invalid', 'server', '127.0.0.1', 'localhost.']) {
    for (const VAPID_SUBJECT of [`mailto:push@${host}`, `https://${host}`]) {
      t.match(problems(t, { ...production, VAPID_SUBJECT }), [/VAPID_SUBJECT/], VAPID_SUBJECT);
      t.doesNotThrow(() => load({ VAPID_SUBJECT }));
    }
    const fromMail = { MAIL_FROM: `Dure <a@${host}>`, VAPID_PRIVATE_KEY };
    t.match(problems(t, { ...production, ...fromMail }), [/VAPID_SUBJECT/], host);
  }
  for (const VAPID_SUBJECT of ['mailto:a@b.example.com', 'https://두레.한국', 'mailto:a@두레.한국'])
    t.doesNotThrow(() => load({ ...production, VAPID_SUBJECT, VAPID_PRIVATE_KEY }), VAPID_SUBJECT);
});

t.test('a store of images is configured as a whole', async (t) => {
  const bucket = { JWT_SECRET: secret, S3_BUCKET: 'images' };
  const base = { MEDIA_BASE_URL: 'https://cdn.example.com' };
  const named = (environment: Record<string, string>) =>
    problems(t, { ...bucket, ...environment }).map((line) => /\b(?:S3|MEDIA)_\w+/.exec(line)?.[0]);
  t.strictSame(named({}), ['MEDIA_BASE_URL', 'S3_REGION']);
  t.strictSame(named({ S3_ENDPOINT: 'http://127.0.0.1:9000' }), ['MEDIA_BASE_URL']);
  t.strictSame(named({ ...base, S3_REGION: 'eu-west-1', S3_SECRET_ACCESS_KEY: 'x' }), ['S3_ACCESS_KEY_ID']);
  t.strictSame(named({ ...base, S3_ENDPOINT: 's3.example.com' }), ['S3_ENDPOINT']);
  t.match(problems(t, { JWT_SECRET: secret, S3_ACCESS_KEY_ID: 'key' }), [
    /S3_BUCKET must be set with S3_ACCESS_KEY_ID$/,
    /S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY must be set together/,
  ]);
  const inProduction = problems(t, { ...production, MEDIA_BASE_URL: 'http://cdn.example.com' });
  t.match(inProduction, [/MEDIA_BASE_URL must be https/]);
  t.match(loadConfig({ ...bucket, ...base, S3_REGION: 'eu-west-1' }).images.s3, { credentials: undefined });
});

t.test('the documents that users agree to have a date and a URL, and privacy comes with terms', async (t) => {
  const terms = { TERMS_VERSION: '2026-01-31', TERMS_URL: 'https://dure.example/terms?a=1#b' };
  const privacy = { PRIVACY_VERSION: '2026-01-31', PRIVACY_URL: 'http://dure.example/privacy' };
  const named = (environment: Record<string, string>) =>
    problems(t, { JWT_SECRET: secret, ...environment }).map((line) => /[A-Z]+_[A-Z]+/.exec(line)?.[0]);
  t.doesNotThrow(() => load({ ...terms, ...privacy }), 'plain http is for development');
  t.match(problems(t, { ...production, ...terms, ...privacy }), [/PRIVACY_URL must be https/]);
  for (const date of ['2026-02-30', '2026-1-31', '31.1.2026', '2026-01-31T00:00:00Z', 'v2'])
    t.strictSame(named({ ...terms, TERMS_VERSION: date }), ['TERMS_VERSION'], date);
  t.strictSame(named({ ...terms, TERMS_URL: 'dure.example' }), ['TERMS_URL']);
  t.strictSame(named({ TERMS_VERSION: '2026-01-31' }), ['TERMS_VERSION']);
  t.strictSame(named({ TERMS_URL: 'https://dure.example/terms' }), ['TERMS_VERSION']);
  t.strictSame(named(privacy), ['TERMS_VERSION']);
});

t.test('durations have a unit and a maximum', async (t) => {
  const lifetimes = [
    ...['ACCESS_TOKEN_TTL', 'REFRESH_TOKEN_TTL', 'SESSION_MAX_AGE'],
    ...['EMAIL_CODE_TTL', 'VERIFICATION_TOKEN_TTL', 'PASSWORD_RESET_TTL'],
  ];
  const others = ['REFRESH_REUSE_GRACE', 'EMAIL_COOLDOWN', 'UNVERIFIED_ACCOUNT_TTL', 'NOTIFICATION_TTL'];
  for (const name of [...lifetimes, ...others]) {
    rejected(t, name, '15', 'm', '15 m', '1.5h', '-1s', '1w', '15M', '9999999999s', '4000d', '1h30m');
  }
  for (const name of lifetimes) rejected(t, name, '0s', '0d');
  rejected(t, 'EMAIL_COOLDOWN', '61m', '2h');
  rejected(t, 'SHUTDOWN_DELAY', '6s', '1m', '5');
  t.equal(load({ EMAIL_COOLDOWN: '1h' }).email.cooldown, 3600);
  t.equal(load({ UNVERIFIED_ACCOUNT_TTL: '0' }).email.unverifiedAccountTtl, 0);
  t.equal(load({ NOTIFICATION_TTL: '0' }).notificationTtl, 0);
  rejected(t, 'EMAIL_COOLDOWN', '0');
});

t.test('a damaged secret file is rejected', async (t) => {
  const directory = t.testdir();
  for (const content of ['', 'short', '0'.repeat(64)]) {
    writeFileSync(join(directory, 'jwt-secret'), content);
    t.match(problems(t, { DATA_DIR: directory }).join(), 'jwt-secret');
  }
  writeFileSync(join(directory, 'file'), '');
  const file = join(directory, 'file');
  t.match(problems(t, { DATA_DIR: file }).join(), `. ${file} is a file: choose another path`);
});

t.test('production generates no secret', async (t) => {
  const directory = t.testdir();
  const { JWT_SECRET: _, ...environment } = production;
  t.equal(problems(t, { ...environment, DATA_DIR: directory }).length, 1);
  t.strictSame(readdirSync(directory), []);
});
