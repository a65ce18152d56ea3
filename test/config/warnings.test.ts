import t from 'tap';
import { createTestApp } from '../support/app.ts';
import { load, production } from './environments.ts';

t.test('warnings are in the log at start', async (t) => {
  const app = await (await createTestApp()).startInstance(production);
  const warnings = app.logs.map((line) => JSON.parse(line)).filter(({ level }) => level >= 40);
  t.match(warnings, [{ level: 40, msg: /^DATABASE_URL / }]);
});

const commonPasswords = [
  ...['dure@db/dure', 'dure:@db/dure', 'dure:dure@db/dure', 'app:postgres@db/dure', 'app:PASSWORD@db/dure'],
  ...['app:secret@db/dure', 'app:MySecretPassword@db/dure', 'app:123456789@db/dure', 'app:changeme@db/dure'],
  ...['shopkeeper:shopkeeper@db/dure', 'app:neighbours@db/neighbours', 'app:k3J9x@db/dure'],
].map((rest) => `postgresql://${rest}`);
const strong = { ...production, DATABASE_URL: 'postgresql://dure:wQ3v9eLk2xRt7y@db/dure' };

t.test('a weak password is one warning that names the variable, without the password', async (t) => {
  for (const name of ['DATABASE_URL', 'DATABASE_DIRECT_URL', 'DATABASE_REPLICA_URL']) {
    for (const url of commonPasswords) {
      const { warnings } = load({ ...strong, [name]: url });
      t.match(warnings, [new RegExp(`^${name} `)], url);
      t.equal(warnings.length, 1, url);
      const password = /:([^:@/]+)@/.exec(url)?.[1] ?? '@';
      t.notOk(warnings.join().includes(password), 'without the password');
    }
  }
});

t.test('what is as strong is not warned about, and nothing outside production', async (t) => {
  for (const DATABASE_URL of [
    strong.DATABASE_URL,
    'postgresql://dure:p%40ssage-Of-Cranes@db/dure',
    'postgresql:///dure?host=/var/run/postgresql',
  ]) {
    t.strictSame(load({ ...strong, DATABASE_URL }).warnings, [], DATABASE_URL);
  }
  t.strictSame(load({ DATABASE_URL: 'postgresql://dure:dure@db/dure' }).warnings, []);
});
