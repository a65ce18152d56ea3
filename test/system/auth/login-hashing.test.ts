import argon2 from 'argon2';
import t, { type Test } from 'tap';
import { createTestApp, password, signUpUser, type TestApp } from '../../support/app.ts';
import { delayed, noErrorLogged, rejected, tally } from '../../support/assertions.ts';
import { inParallel } from '../../support/concurrency.ts';

/** Parameters as in production, so that hashes take time. */
const costly = await createTestApp({ ARGON2_MEMORY_KIB: '19456', ARGON2_TIME_COST: '2' });
/** Another instance on the same database whose parameters are lower. */
const cheap = await costly.startInstance();

const logIn = ({ call }: TestApp, username: string, given = password) =>
  call('POST', '/auth/login/', { body: { username, password: given } });

async function hashOf(id: number): Promise<string> {
  const { rows } = await costly.pool.query('SELECT password_hash FROM users WHERE id = $1', [id]);
  return rows[0].password_hash;
}

t.test('raised parameters rehash at the next login', async (t) => {
  const { username, id } = await signUpUser(cheap);
  const before = await hashOf(id);
  t.match(before, /^\$argon2id\$v=19\$m=1024,t=1,p=1\$/);
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

t.test('an attempt during the delay of its address costs no hash', async (t) => {
  for (let time = 0; time < 10; time++) await logIn(cheap, 'delayed.name', 'not the password');
  const costs = verifiedCosts(t);
  delayed(t, await logIn(cheap, 'delayed.name', 'not it'), 30);
  t.strictSame(costs(), []);
});
