import argon2 from 'argon2';
import t, { type Test } from 'tap';
import { createTestApp, password, signUpUser, type TestApp } from '../../support/app.ts';
import { delayed, noErrorLogged, rejected, tally } from '../../support/assertions.ts';
import { inParallel } from '../../support/concurrency.ts';

/** Parameters as in production, so that hashes take time. */
const costly = await createTestApp({ ARGON2_MEMORY_KIB: '19456', ARGON2_TIME_COST: '2' });
/** Another instance on the same database whose parameters are lower. */
const cheap = await createTestApp({ WORKER_ENABLED: 'false' }, { databaseUrl: costly.url });

const logIn = ({ call }: TestApp, username: string, given = password) =>
  call('POST', '/auth/login/', { body: { username, password: given } });

async function hashOf(id: number): Promise<string> {
  const { rows } = await costly.pool.query('SELECT password_hash FROM users WHERE id = $1', [id]);
  return rows[0].password_hash;
}

t.test('a password is hashed with argon2id, 19 MiB, t=2, p=1', async (t) => {
  const { id } = await signUpUser(costly);
  t.match(await hashOf(id), /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
});

t.test('raised parameters rehash at the next login', async (t) => {
  const { username, id } = await signUpUser(cheap);
  const before = await hashOf(id);
  t.match(before, /m=1024,t=1,p=1/);
  rejected(t, await logIn(costly, username, 'not the password'), 401, 'invalid_credentials');
  t.equal(await hashOf(id), before, 'but not after a wrong password');
  t.equal((await logIn(costly, username)).status, 200);
  const after = await hashOf(id);
  t.match(after, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  t.equal((await logIn(costly, username)).status, 200);
  t.equal(await hashOf(id), after, 'and only once');
});

t.test('concurrent logins succeed while the password is rehashed', async (t) => {
  const { username, id } = await signUpUser(cheap);
  const responses = await inParallel(20, () => logIn(costly, username));
  t.strictSame(tally(responses), { 200: 20 });
  t.match(await hashOf(id), /m=19456,t=2,p=1/);
});

/** The parameters against which passwords are verified, in the order of the calls. */
function verifiedCosts(t: Test) {
  const verify = argon2.verify.bind(argon2);
  const calls = t.capture(argon2, 'verify', verify);
  return () => calls().map(({ args: [hash] }) => hash.split('$')[3]);
}

t.test('a wrong password and an unknown user cost the same', async (t) => {
  const { username, email } = await signUpUser(costly);
  const costs = verifiedCosts(t);
  for (const login of [username, email, 'unknown', 'unknown@example.com', '이런 사람은 없어요']) {
    rejected(t, await logIn(costly, login, 'not the password'), 401, 'invalid_credentials');
  }
  t.strictSame(costs(), Array(5).fill('m=19456,t=2,p=1'));
  noErrorLogged(t, costly.logs);
});

t.test(
  'after the cost was raised, names without an account cost what accounts cost, each always the same',
  async (t) => {
    const before = await createTestApp({ WORKER_ENABLED: 'false' });
    t.teardown(before.close);
    const old = await signUpUser(before);
    for (let more = 0; more < 3; more++) await signUpUser(before);
    const after = await createTestApp(
      { ARGON2_MEMORY_KIB: '2048', WORKER_ENABLED: 'false' },
      { databaseUrl: before.url },
    );
    t.teardown(after.close);
    await signUpUser(after);
    const costs = verifiedCosts(t);
    const costsOf = async (names: string[]) => {
      const from = costs().length;
      for (const name of names) rejected(t, await logIn(after, name, 'not it'), 401, 'invalid_credentials');
      return costs().slice(from);
    };
    const names = Array.from({ length: 40 }, (_, index) => `unknown-name-${index}`);
    const found = await costsOf(names);
    const count = (cost: string) => found.filter((one) => one === cost).length;
    const [low, high] = ['m=1024,t=1,p=1', 'm=2048,t=1,p=1'];
    t.equal(count(low) + count(high), 40, 'no other cost');
    t.ok(count(low) >= 28 && count(low) <= 36, `${count(low)} of 40, as four of five accounts`);
    t.strictSame(await costsOf(names), found, 'a name does not change its cost');
    t.strictSame(await costsOf([old.username]), [low]);
  },
);

t.test('an attempt during the delay of its address costs no hash', async (t) => {
  for (let time = 0; time < 10; time++) await logIn(cheap, 'delayed.name', 'not the password');
  const costs = verifiedCosts(t);
  delayed(t, await logIn(cheap, 'delayed.name', 'not it'), 30);
  t.strictSame(costs(), []);
});
