import t from 'tap';
import { loadConfig } from '../../src/infrastructure/config/config.ts';
import { createTestApp } from '../support/app.ts';
import { load, production } from './environments.ts';

const strong = 'postgresql://dure:wQ3v9eLk2xRt7y@db.example.com/dure';

t.test('a common database password is warned about in production', async (t) => {
  const warned = ({ name = 'DATABASE_URL', url = '', environment = production }) =>
    loadConfig({ ...environment, [name]: url }).warnings;
  const common = [
    'postgresql://dure@db.example.com/dure',
    'postgresql://dure:@db.example.com/dure',
    'postgresql://dure:dure@db.example.com/dure',
    'postgresql://app:postgres@db.example.com/dure',
    'postgresql://app:PASSWORD@db.example.com/dure',
    'postgresql://app:secret@db.example.com/dure',
    'postgresql://app:MySecretPassword@db.example.com/dure',
    'postgresql://app:123456789@db.example.com/dure',
    'postgresql://app:changeme@db.example.com/dure',
    'postgresql://shopkeeper:shopkeeper@db.example.com/dure',
    'postgresql://app:neighbours@db.example.com/neighbours',
    'postgresql://app:k3J9x@db.example.com/dure',
  ];
  for (const url of common) {
    for (const name of ['DATABASE_URL', 'DATABASE_DIRECT_URL']) {
      const environment = {
        ...production,
        DATABASE_URL: 'postgresql://app:wQ3v9eLk2xRt7y@db.example.com/dure',
      };
      const [warning = '', ...others] = warned({ name, url, environment });
      t.ok(warning.startsWith(name), `${url}: ${warning}`);
      t.notOk(warning.includes(new URL(url).password || '@'), 'the password is not in the warning');
      t.strictSame(others, []);
    }
    t.strictSame(load({ DATABASE_URL: url }).warnings, [], 'not outside production');
  }
  for (const url of [
    'postgresql://dure:wQ3v9eLk2xRt7y@db.example.com/dure',
    'postgresql://dure:p%40ssage-Of-Cranes@db.example.com/dure',
    'postgresql:///dure?host=/var/run/postgresql',
  ]) {
    t.strictSame(warned({ url }), [], url);
  }
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
  ]) {
    t.strictSame(load({ ...mail, RESEND_BASE_URL: url }).warnings, [], url);
  }
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
