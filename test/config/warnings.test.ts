import t from 'tap';
import { inspectConfig } from '../../src/infrastructure/config/environment.ts';
import { findDeploymentWarnings } from '../../src/infrastructure/config/warnings.ts';
import { createTestApp } from '../support/app.ts';
import { load, production } from './environments.ts';

const strong = 'postgresql://dure:wQ3v9eLk2xRt7y@db.shops.kr/dure';

t.test('warnings are in the log at start', async (t) => {
  const app = await (await createTestApp()).startInstance(production);
  const warnings = app.logs.map((line) => JSON.parse(line)).filter(({ level }) => level >= 40);
  t.match(warnings, [{ level: 40, msg: /^DATABASE_URL / }]);
});

/** Nothing to warn about, and nothing to note. */
const sound = {
  ...production,
  MAIL_FROM: 'Dure <no-reply@shops.kr>',
  FRONTEND_URL: 'https://app.shops.kr',
  PUBLIC_URL: 'https://api.shops.kr',
  DATABASE_URL: `${strong}?sslmode=verify-full`,
  DATABASE_REPLICA_URL: `${strong}?sslmode=verify-full`,
  TRUST_PROXY: '10.0.0.0/8',
  REDIS_URL: 'rediss://redis.shops.kr',
  S3_BUCKET: 'dure',
  S3_ENDPOINT: 'https://s3.shops.kr',
  MEDIA_BASE_URL: 'https://media.shops.kr',
};

function find(overrides: Record<string, string> = {}) {
  const { texts, config, problems } = inspectConfig({ ...sound, ...overrides });
  const { warnings, notes } = findDeploymentWarnings(texts, config);
  return { problems, warnings: [...config.warnings, ...warnings], notes };
}

t.test('a sound configuration has neither problems nor warnings nor notes', async (t) => {
  t.strictSame(find(), { problems: [], warnings: [], notes: [] });
});

const commonPasswords = [
  ...['dure@db/dure', 'dure:@db/dure', 'dure:dure@db/dure', 'app:postgres@db/dure', 'app:PASSWORD@db/dure'],
  ...['app:secret@db/dure', 'app:MySecretPassword@db/dure', 'app:123456789@db/dure', 'app:changeme@db/dure'],
  ...['shopkeeper:shopkeeper@db/dure', 'app:neighbours@db/neighbours', 'app:k3J9x@db/dure'],
].map((rest) => `postgresql://${rest}`);

t.test('what is weak is one warning that names the variable', async (t) => {
  const weak: [name: string, value: string][] = [
    ...commonPasswords.map((url): [string, string] => ['DATABASE_URL', url]),
    ...commonPasswords.map((url): [string, string] => ['DATABASE_DIRECT_URL', url]),
    ['DATABASE_URL', strong],
    ['DATABASE_URL', 'postgresql://dure:wQ3v9eLk2xRt7y@198.41.0.4/dure?sslmode=disable'],
    ['DATABASE_URL', `${strong}?sslmode=no-verify`],
    ['DATABASE_URL', 'postgresql://dure:wQ3v9eLk2xRt7y@[2001:503:ba3e::2:30]/dure'],
    ['DATABASE_DIRECT_URL', strong],
    ['DATABASE_REPLICA_URL', 'postgresql://dure:dure@db/dure'],
    ['DATABASE_REPLICA_URL', strong],
    ['DATABASE_REPLICA_URL', 'postgresql://dure:wQ3v9eLk2xRt7y@postgres-replica.example.internal/dure'],
    ['PUBLIC_URL', 'https://dure.example.com'],
    ['MAIL_FROM', 'Dure <no-reply@example.com>'],
    ['CORS_ORIGINS', 'https://shops.kr,https://app.example.com'],
    ['FRONTEND_URL', 'http://localhost:5173'],
    ['TRUST_PROXY', 'false'],
    ['LOG_LEVEL', 'warn'],
  ];
  for (const [name, value] of weak) {
    const { warnings, problems } = find({ [name]: value });
    t.match({ warnings, problems }, { warnings: [new RegExp(`^${name} `)], problems: [] }, value);
    t.equal(warnings.length, 1, value);
    const password = /:([^:@/]+)@/.exec(value)?.[1] ?? '@';
    t.notOk(warnings.join().includes(password), 'without the password');
  }
});

t.test('what is usual inside of a network, or as strong, is not warned about', async (t) => {
  const usual: Record<string, string>[] = [
    { DATABASE_URL: 'postgresql://dure:wQ3v9eLk2xRt7y@postgres/dure' },
    { DATABASE_URL: 'postgresql://dure:wQ3v9eLk2xRt7y@10.2.3.4/dure' },
    { DATABASE_URL: 'postgresql://dure:wQ3v9eLk2xRt7y@db.default.svc/dure' },
    { DATABASE_URL: 'postgresql://dure:wQ3v9eLk2xRt7y@[fd00::7]/dure' },
    { DATABASE_URL: 'postgresql://dure:p%40ssage-Of-Cranes@db/dure' },
    { DATABASE_URL: 'postgresql:///dure?host=/var/run/postgresql' },
    { TRUST_PROXY: 'loopback,172.16.0.0/12' },
    { TRUST_PROXY: 'false', PUBLIC_URL: 'http://localhost:3000' },
  ];
  for (const overrides of usual) t.strictSame(find(overrides).warnings, [], JSON.stringify(overrides));
});

t.test('outside production nothing is warned about', async (t) => {
  t.strictSame(load({ DATABASE_URL: 'postgresql://dure:dure@db/dure' }).warnings, []);
});

t.test('what depends on the deployment is a note', async (t) => {
  const notes: Record<string, string>[] = [
    { REDIS_URL: '' },
    { S3_BUCKET: '', S3_ENDPOINT: '', MEDIA_BASE_URL: '' },
  ];
  for (const overrides of notes) {
    const [name = ''] = Object.keys(overrides);
    t.match(find(overrides), { warnings: [], notes: [new RegExp(`^${name} `)] }, name);
  }
  t.match(find({ REDIS_URL: '' }).notes, [/^REDIS_URL /, /^DATABASE_REPLICA_URL is set without REDIS_URL/]);
  t.match(find({ NODE_ENV: 'development' }), { warnings: [], notes: [/^NODE_ENV is development/] });
});
