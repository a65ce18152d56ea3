import t from 'tap';
import { createTestApp, createUser, password, type TestApp } from '../support/app.ts';
import { refused, tally } from '../support/assertions.ts';
import { inParallel } from '../support/concurrency.ts';

/** Parameters as in production, so that hashes take time. */
const costly = await createTestApp({ ARGON2_MEMORY_KIB: '19456', ARGON2_TIME_COST: '2' });
t.teardown(costly.close);
/** Another instance on the same database whose parameters are lower. */
const cheap = await createTestApp({ WORKER_ENABLED: 'false' }, { databaseUrl: costly.url });
t.teardown(cheap.close);

const logIn = ({ call }: TestApp, username: string, given = password) =>
  call('POST', '/auth/login/', { body: { username, password: given } });

async function hashOf(id: number): Promise<string> {
  const { rows } = await costly.pool.query('SELECT password_hash FROM users WHERE id = $1', [id]);
  return rows[0].password_hash;
}

t.test('a password is hashed with argon2id, 19 MiB, t=2, p=1', async (t) => {
  const { id } = await createUser(costly);
  t.match(await hashOf(id), /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
});

t.test('raised parameters rehash at the next login', async (t) => {
  const { username, id } = await createUser(cheap);
  const before = await hashOf(id);
  t.match(before, /m=1024,t=1,p=1/);
  refused(t, await logIn(costly, username, 'not the password'), 401, 'invalid_credentials');
  t.equal(await hashOf(id), before, 'but not after a wrong password');
  t.equal((await logIn(costly, username)).status, 200);
  const after = await hashOf(id);
  t.match(after, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  t.equal((await logIn(costly, username)).status, 200);
  t.equal(await hashOf(id), after, 'and only once');
});

t.test('concurrent logins succeed while the password is rehashed', async (t) => {
  const { username, id } = await createUser(cheap);
  const answers = await inParallel(20, () => logIn(costly, username));
  t.strictSame(tally(answers), { 200: 20 });
  t.match(await hashOf(id), /m=19456,t=2,p=1/);
});

t.test('an unknown user takes as long as a wrong password', async (t) => {
  const { username } = await createUser(costly);
  const fastest = async (name: (time: number) => string) => {
    let best = Number.POSITIVE_INFINITY;
    for (let time = 0; time < 7; time++) {
      const start = performance.now();
      refused(t, await logIn(costly, name(time), 'not the password'), 401, 'invalid_credentials');
      best = Math.min(best, performance.now() - start);
    }
    return best;
  };
  const wrong = await fastest(() => username);
  const unknown = await fastest((time) => `unknown${time}`);
  t.ok(unknown > wrong / 2 && wrong > unknown / 2, `${wrong} ms and ${unknown} ms`);
});
