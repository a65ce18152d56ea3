import t from 'tap';
import { inspectConfig, loadConfig } from '../../src/infrastructure/config/config.ts';
import { findDeploymentWarnings } from '../../src/infrastructure/config/warnings.ts';
import { createTestApp } from '../support/app.ts';
import { load, production } from './environments.ts';

const strong = 'postgresql://dure:wQ3v9eLk2xRt7y@db.example.com/dure';

t.test('a common database password is warned about in production', async (t) => {
  const common = [
    ...['dure@db/dure', 'dure:@db/dure', 'dure:dure@db/dure', 'app:postgres@db/dure', 'app:PASSWORD@db/dure'],
    ...[
      'app:secret@db/dure',
      'app:MySecretPassword@db/dure',
      'app:123456789@db/dure',
      'app:changeme@db/dure',
    ],
    ...['shopkeeper:shopkeeper@db/dure', 'app:neighbours@db/neighbours', 'app:k3J9x@db/dure'],
  ];
  for (const url of common.map((rest) => `postgresql://${rest}`)) {
    for (const name of ['DATABASE_URL', 'DATABASE_DIRECT_URL']) {
      const { warnings } = loadConfig({ ...production, DATABASE_URL: strong, [name]: url });
      t.match(warnings, [new RegExp(`^${name} `)], url);
      t.notOk(warnings.join().includes(new URL(url).password || '@'), 'the password is not in the warning');
    }
    t.strictSame(load({ DATABASE_URL: url }).warnings, [], 'not outside production');
  }
  const encoded = 'postgresql://dure:p%40ssage-Of-Cranes@db.example.com/dure';
  for (const url of [strong, encoded, 'postgresql:///dure?host=/var/run/postgresql'])
    t.strictSame(loadConfig({ ...production, DATABASE_URL: url }).warnings, [], url);
});

t.test('a provider that is reached in plain http is warned about', async (t) => {
  const mail = { RESEND_API_KEY: 're_dK3vQ8wZ_unused', MAIL_FROM: 'hello@example.com' };
  for (const url of ['http://mail.example.com', 'http://10.0.0.1:8080']) {
    t.match(load({ ...mail, RESEND_BASE_URL: url }).warnings, [/^RESEND_BASE_URL .*http/]);
  }
  for (const url of [
    'https://mail.example.com',
    'http://localhost:9',
    'http://127.0.0.1:9',
    'http://[::1]:9',
  ])
    t.strictSame(load({ ...mail, RESEND_BASE_URL: url }).warnings, [], url);
  t.strictSame(load().warnings, []);
});

t.test('links to the own machine are warned about in production', async (t) => {
  const warnings = (FRONTEND_URL: string, environment: Record<string, string> = production) =>
    load({ ...environment, DATABASE_URL: strong, FRONTEND_URL }).warnings;
  for (const url of ['http://localhost:5173', 'http://127.0.0.1', 'https://[::1]/shop'])
    t.match(warnings(url), [/^FRONTEND_URL /], url);
  t.strictSame(warnings('https://app.example.com'), []);
  t.strictSame(warnings('http://localhost:5173', {}), []);
});

t.test('warnings are in the log at start', async (t) => {
  const app = await createTestApp({ ...production, WORKER_ENABLED: 'false' });
  t.teardown(app.close);
  const warnings = app.logs.map((line) => JSON.parse(line)).filter(({ level }) => level >= 40);
  t.match(warnings, [{ level: 40, msg: /^DATABASE_URL / }]);
});

/** Nothing to warn about, and nothing to note. */
const sound = {
  ...production,
  DATABASE_URL: `${strong}?sslmode=verify-full`,
  TRUST_PROXY: '10.0.0.0/8',
  REDIS_URL: 'rediss://redis.example.com',
  S3_BUCKET: 'dure',
  S3_ENDPOINT: 'https://s3.example.com',
  MEDIA_BASE_URL: 'https://media.example.com',
  CORS_ORIGINS: 'https://app.example.com',
};

function find(overrides: Record<string, string> = {}) {
  const { environment, config, problems } = inspectConfig({ ...sound, ...overrides });
  return { ...findDeploymentWarnings(environment, config), problems };
}

t.test('a sound configuration has neither problems nor warnings nor notes', async (t) => {
  t.strictSame(find(), { problems: [], warnings: [], notes: [] });
});

t.test('what is weak is one warning that names the variable', async (t) => {
  const weak: [name: string, value: string][] = [
    ['DATABASE_URL', strong],
    ['DATABASE_URL', 'postgresql://dure:wQ3v9eLk2xRt7y@203.0.113.7/dure?sslmode=disable'],
    ['DATABASE_URL', `${strong}?sslmode=no-verify`],
    ['DATABASE_DIRECT_URL', strong],
    ['REDIS_URL', 'redis://redis.example.com'],
    ['S3_ENDPOINT', 'http://s3.example.com'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http://[2001:db8::7]:4318'],
    ['TRUST_PROXY', 'false'],
    ['TRUST_PROXY', '0.0.0.0/1'],
    ['TRUST_PROXY', '10.0.0.1,2000::/3'],
    ['CORS_ORIGINS', 'http://shop.example.com,https://app.example.com'],
    ['RATE_LIMIT_ENABLED', 'false'],
    ['ARGON2_MEMORY_KIB', '19455'],
    ['ARGON2_TIME_COST', '1'],
    ['LOG_LEVEL', 'warn'],
  ];
  for (const [name, value] of weak) {
    const { warnings, problems } = find({ [name]: value });
    t.match(
      { warnings, problems },
      { warnings: [new RegExp(`^${name} |and ${name} `)], problems: [] },
      value,
    );
    t.equal(warnings.length, 1, value);
    t.notMatch(warnings.join(), 'wQ3v9eLk2xRt7y', 'without the password');
  }
});

t.test('what is usual inside of a network, or as strong, is not warned about', async (t) => {
  const usual: Record<string, string>[] = [
    { DATABASE_URL: 'postgresql://dure:wQ3v9eLk2xRt7y@postgres/dure' },
    { DATABASE_URL: 'postgresql://dure:wQ3v9eLk2xRt7y@10.2.3.4/dure' },
    { DATABASE_URL: 'postgresql://dure:wQ3v9eLk2xRt7y@db.default.svc/dure' },
    { DATABASE_URL: 'postgresql://dure:wQ3v9eLk2xRt7y@[fd00::7]/dure' },
    { REDIS_URL: 'redis://redis:6379' },
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' },
    { TRUST_PROXY: 'loopback,172.16.0.0/12' },
    { TRUST_PROXY: 'false', PUBLIC_URL: 'http://localhost:3000' },
    { CORS_ORIGINS: 'http://localhost:5173,https://app.example.com' },
    { ARGON2_MEMORY_KIB: '47104', ARGON2_TIME_COST: '1' },
    { ARGON2_MEMORY_KIB: '7168', ARGON2_TIME_COST: '5' },
  ];
  for (const overrides of usual) t.strictSame(find(overrides).warnings, [], JSON.stringify(overrides));
});

t.test('what depends on the deployment is a note', async (t) => {
  const notes: Record<string, string>[] = [
    { REDIS_URL: '' },
    { WORKER_ENABLED: 'false' },
    { DOCS_ENABLED: 'true' },
    { MIGRATE_ON_START: 'true' },
    { S3_BUCKET: '', S3_ENDPOINT: '', MEDIA_BASE_URL: '' },
    { CORS_ORIGINS: '' },
    { JWT_SECRET: `${production.JWT_SECRET},another-${production.JWT_SECRET}` },
  ];
  for (const overrides of notes) {
    const [name = ''] = Object.keys(overrides);
    t.match(find(overrides), { warnings: [], notes: [new RegExp(`^${name} `)] }, name);
  }
  t.match(find({ NODE_ENV: 'development' }), { warnings: [], notes: [/^NODE_ENV is development/] });
});
