import argon2 from 'argon2';
import t from 'tap';
import { fromAnywhere, newAddress } from '../http/limits.ts';
import { createTestApp, createUser, password, signUpUser } from '../support/app.ts';
import { tally } from '../support/assertions.ts';
import { gate, inParallel } from '../support/concurrency.ts';
import { holdTimers } from '../support/timers.ts';
import { until } from '../support/until.ts';

const { startInstance } = await createTestApp();
const app = await startInstance({ RATE_LIMIT_ENABLED: 'true' }, { serverErrors: true });

const anywhere = fromAnywhere(app);
const user = await signUpUser(anywhere);
const logIn = (given: string, remoteAddress = newAddress(), username = user.username) =>
  app.call('POST', '/auth/login/', { body: { username, password: given }, remoteAddress });

/** Waits until a number of hashes run or wait. */
const hashes = (count: number, of = app) =>
  until(`${count} hashes`, async () => {
    const { text } = await of.call('GET', '/metrics');
    const [active, waiting] = [...text.matchAll(/^password_hashing_(?:active|waiting) (\d+)/gm)];
    return Number(active?.[1]) + Number(waiting?.[1]) === count;
  });

t.test('ten operations a minute take the password of a user, from all addresses together', async (t) => {
  const { token } = await signUpUser(anywhere);
  const operations = [
    ['POST', '/auth/change-password/'],
    ['POST', '/auth/change-email/'],
    ['DELETE', '/auth/me/'],
  ] as const;
  const send = (index: number, token?: string) => {
    const [method, path] = operations[index % 3] ?? operations[0];
    return anywhere.call(method, path, { token, body: {} });
  };
  for (let index = 0; index < 10; index++) t.equal((await send(index, token)).status, 400);
  for (let index = 0; index < 3; index++) {
    const { status, headers, body } = await send(index, token);
    t.equal(status, 429);
    t.equal(body.data.code, 'rate_limited');
    t.ok(Number(headers['retry-after']) <= 60);
  }
  t.equal((await send(0, user.token)).status, 400, 'of another user');
  t.equal((await send(0)).status, 401, 'without a token');
  t.equal((await app.call('GET', '/auth/me/', { token })).status, 200, 'other operations of the user');
});

t.test('a user or address has at most two hashes waiting, a /48 twenty, and logins come first', async (t) => {
  const { open, opened } = gate();
  const verify = argon2.verify.bind(argon2);
  const calls = t.capture(argon2, 'verify', async (hash: string, given: string) => {
    await opened;
    return verify(hash, given);
  });
  // More than run at once, so that every further hash waits.
  const crowd = inParallel(9, () => logIn(password));
  await hashes(9);

  let answered = 0;
  const count = () => answered++;
  const body = { current_password: 'of the user', new_password: `${password}-new` };
  const changes = inParallel(9, () =>
    anywhere.call('POST', '/auth/change-password/', { token: user.token, body }).finally(count),
  );
  await hashes(11);
  const address = '2001:db8:1:2::';
  const neighbours = inParallel(4, (index) => logIn('of the address', `${address}${index}`).finally(count));
  await hashes(13);
  const customer = inParallel(23, (index) =>
    logIn('of the network', `2001:db8:2:${index}::`, `unknown-${index}`).finally(count),
  );
  await hashes(33);
  const last = logIn(password);
  await hashes(34);
  await until('the others are rejected', () => answered === 12);
  open();

  t.strictSame(tally(await crowd), { 200: 9 });
  t.strictSame(tally(await changes), { '401 invalid_credentials': 2, '503 service_unavailable': 7 });
  t.strictSame(tally(await neighbours), { '401 invalid_credentials': 2, '503 service_unavailable': 2 });
  t.strictSame(tally(await customer), { '401 invalid_credentials': 20, '503 service_unavailable': 3 });
  t.equal((await last).status, 200);
  const order = calls().map(({ args: [, given] }) => given);
  t.strictSame(order.slice(-5), ['of the network', 'of the network', password, 'of the user', 'of the user']);
});

/** Milliseconds after a request of a logged-in user in which one core is left to such requests. */
const yieldTime = 250;

t.test('while logged-in users send requests, one core is left to them', async (t) => {
  const useAllCores = holdTimers(t, yieldTime);
  const ownApp = await app.startInstance({ RATE_LIMIT_ENABLED: 'true' });
  const { maxConcurrentHashes: all } = ownApp.config.password;
  const { token, username } = await createUser(ownApp);
  const verify = argon2.verify.bind(argon2);
  const { open, opened } = gate();
  let begun = 0;
  t.capture(argon2, 'verify', async (hash: string, given: string) => {
    begun += 1;
    await opened;
    return verify(hash, given);
  });
  t.equal((await ownApp.call('GET', '/auth/me/', { token })).status, 200);
  const logins = inParallel(all + 1, () =>
    fromAnywhere(ownApp).call('POST', '/auth/login/', { body: { username, password } }),
  );
  await hashes(all + 1, ownApp);
  t.equal(begun, Math.max(1, all - 1));
  useAllCores();
  await until('hashes on all cores', () => begun === all);
  open();
  t.strictSame(tally(await logins), { 200: all + 1 });
});
