import t from 'tap';
import { createTestApp, createUser, password } from '../support/app.ts';
import { delayedFor, home, loginFailuresOf } from './login-failures.ts';
import { newResetLink } from './mailbox.ts';

const app = await createTestApp();
t.teardown(app.close);
const { logIn, fail, passDelays } = loginFailuresOf(app);

t.test('the owner can log in from a known address while other addresses are delayed', async (t) => {
  const { username, email } = await createUser(app);
  await fail(t, 10, username);
  delayedFor(t, await logIn(username), 30);
  t.equal((await logIn(username, password, home)).status, 200);
  t.equal((await logIn(email, password, home)).status, 200);
  delayedFor(t, await logIn(username), 30);
  await fail(t, 10, username, home);
  delayedFor(t, await logIn(username, password, home), 30);
});

t.test('failures from a known address delay only that address', async (t) => {
  const { username } = await createUser(app);
  t.equal((await logIn(username, password, '198.51.100.200')).status, 200);
  await fail(t, 10, username, home);
  delayedFor(t, await logIn(username, password, home), 30);
  t.equal((await logIn(username, password, '198.51.100.200')).status, 200);
  t.equal((await logIn(username)).status, 200);
});

t.test('an address is known for 30 days after a login', async (t) => {
  const { username, id } = await createUser(app);
  await fail(t, 10, username);
  const lastUsed = (interval: string) =>
    app.pool.query('UPDATE known_addresses SET last_used_at = now() - $1::interval WHERE user_id = $2', [
      interval,
      id,
    ]);
  await lastUsed('30 days 1 second');
  delayedFor(t, await logIn(username, password, home), 30);
  await lastUsed('29 days 23 hours');
  t.equal((await logIn(username, password, home)).status, 200);
  await lastUsed('0 seconds');
});

t.test('an address is known to one account only', async (t) => {
  const [one, other] = [await createUser(app), await createUser(app)];
  t.equal((await logIn(other.username, password, '198.51.100.201')).status, 200);
  await fail(t, 10, one.username);
  delayedFor(t, await logIn(one.username, password, '198.51.100.201'), 30);
});

t.test('a failed login makes no address known', async (t) => {
  const { username } = await createUser(app);
  await fail(t, 10, username);
  delayedFor(t, await logIn(username, password), 30);
  await passDelays();
  await fail(t, 1, username);
  delayedFor(t, await logIn(username, password), 60);
});

t.test('IPv6 addresses are known by their /64', async (t) => {
  const { username } = await createUser(app);
  t.equal((await logIn(username, password, '2001:db8:1:2::1')).status, 200);
  await fail(t, 10, username);
  t.equal((await logIn(username, password, '2001:db8:1:2:ffff:ffff:ffff:ffff')).status, 200);
  delayedFor(t, await logIn(username, password, '2001:db8:1:3::1'), 30);
});

t.test('a completed reset forgets the known addresses', async (t) => {
  const { username, email } = await createUser(app);
  const { uid, token } = await newResetLink(app, email);
  const new_password = 'tteok-and-tea-2';
  const body = { uid, token, new_password };
  t.equal((await app.call('POST', '/auth/reset-password-confirm/', { body })).status, 200);
  await fail(t, 10, username);
  delayedFor(t, await logIn(username, new_password, home), 30);
});
