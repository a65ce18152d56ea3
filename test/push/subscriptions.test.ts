import { createECDH } from 'node:crypto';
import t from 'tap';
import { accountsOf, whileSessionsEnd } from '../auth/accounts.ts';
import { latestUndoToken, newResetLink } from '../auth/mailbox.ts';
import { sessionIdIn } from '../auth/tokens.ts';
import { production } from '../config/environments.ts';
import {
  createTestApp,
  createUser,
  deleteAccount,
  logIn,
  password,
  suspend,
  verifyEmails,
} from '../support/app.ts';
import { invalid, rejected, tally, tokenRejected } from '../support/assertions.ts';
import { inParallel } from '../support/concurrency.ts';
import { countRows } from '../support/rows.ts';
import { pushesOf } from './subscribed.ts';

const { startInstance } = await createTestApp();
const app = await startInstance({ PUSH_SERVICES: 'push.example.com,*.push.example.net' });
const { logOut, refresh, changePassword, moveTo, confirmReset, undoEmailChange } = accountsOf(app);
const { service, add, list, remove, subscribe, readSubscription } = await pushesOf(t, app);

type Subscriber = Awaited<ReturnType<typeof createUser>>;

const userAgent = 'Mozilla/5.0 (Linux; Android 16)';

t.test('a browser that subscribed is listed', async (t) => {
  const user = await createUser(app);
  const added = await add(user, service.subscribe().subscription, { 'user-agent': userAgent });
  const other = await subscribe(user);
  const { items, next_cursor } = (await list(user)).body.data;
  t.equal(next_cursor, null);
  t.strictSame([items[0].id, items[1]], [other.id, added.body.data], 'newest first, without its secrets');
  const page = (await list(user, '?limit=1')).body.data;
  const rest = await list(user, `?limit=1&cursor=${page.next_cursor}`);
  t.strictSame(rest.body.data, { items: [added.body.data], next_cursor: null });
  t.strictSame((await list(await createUser(app))).body.data.items, [], 'to others it is not');
});

t.test('the same endpoint again changes the keys of the subscription', async (t) => {
  const user = await createUser(app);
  const browser = await subscribe(user);
  const { endpoint } = browser.subscription;
  const { keys } = service.subscribe().subscription;
  const again = await add(user, { endpoint, keys, expirationTime: Date.now() }, { 'user-agent': userAgent });
  t.match(again, { status: 200, body: { data: { id: browser.id, user_agent: userAgent } } });
  t.match(await readSubscription(browser.id), { endpoint, ...keys });
  t.equal((await list(user)).body.data.items.length, 1);
});

t.test('a subscription is removed by its user only', async (t) => {
  const user = await createUser(app);
  const { id } = await subscribe(user);
  rejected(t, await remove(await createUser(app), id), 404, 'subscription_not_found');
  t.equal((await remove(user, id)).status, 200);
  rejected(t, await remove(user, id), 404, 'subscription_not_found');
  t.strictSame((await list(user)).body.data.items, []);
});

t.test('a browser in which another user logs in belongs to that user', async (t) => {
  const [before, after] = [await createUser(app), await createUser(app)];
  const browser = await subscribe(before);
  const moved = await add(after, browser.subscription);
  t.equal(moved.status, 201);
  t.not(moved.body.data.id, browser.id, 'so that what waits for the other user finds no subscription');
  t.strictSame((await list(before)).body.data.items, []);
  t.strictSame((await list(after)).body.data.items, [moved.body.data]);
  const responses = await inParallel(8, (index) => add(index % 2 ? before : after, browser.subscription));
  for (const { status } of responses) t.ok([200, 201].includes(status), `${status}`);
  const { endpoint } = browser.subscription;
  const left = await countRows(app, 'push_subscriptions WHERE endpoint = $1', endpoint);
  t.equal(left, 1, 'the endpoint belongs to the last one');
});

t.test('a user has at most ten, also of calls at once', async (t) => {
  const user = await createUser(app);
  const first = await subscribe(user);
  const responses = await inParallel(14, () => add(user, service.subscribe().subscription));
  t.strictSame(tally(responses), { 201: 9, '409 too_many_subscriptions': 5 });
  t.equal((await list(user)).body.data.items.length, 10);
  const browser = await subscribe(await createUser(app));
  rejected(t, await add(user, browser.subscription), 409, 'too_many_subscriptions');
  t.ok(await readSubscription(browser.id), 'then the other user keeps it');
  t.equal((await add(user, first.subscription)).status, 200, 'of the ten, each is changed');
  await remove(user, first.id);
  t.equal((await add(user, service.subscribe().subscription)).status, 201);
});

t.test('keys that encrypt nothing are rejected', async (t) => {
  const user = await createUser(app);
  const { subscription } = service.subscribe();
  const { p256dh, auth } = subscription.keys;
  const bytes = Buffer.from(p256dh, 'base64url');
  const off = Buffer.from(bytes);
  off[64] = (off[64] ?? 0) ^ 1;
  const hybrid = Buffer.from(createECDH('prime256v1').generateKeys('hex', 'hybrid'), 'hex');
  const points = ['', p256dh.slice(1), `${p256dh}A`, `${p256dh}=`, p256dh.replace(/.$/, '+')];
  const others = [off, hybrid, Buffer.alloc(65, 4)].map((point) => point.toString('base64url'));
  for (const point of [...points, ...others])
    invalid(t, await add(user, { ...subscription, keys: { p256dh: point, auth } }), '/keys/p256dh');
  for (const secret of ['', auth.slice(1), `${auth}A`, `${auth}==`])
    invalid(t, await add(user, { ...subscription, keys: { p256dh, auth: secret } }), '/keys/auth');
  invalid(t, await add(user, { ...subscription, expirationTime: 'never' }), 'expirationTime');
});

t.test('an endpoint is a URL of a push service, outside production also one of this machine', async (t) => {
  const user = await createUser(app);
  const { keys } = service.subscribe().subscription;
  const url = (length: number) => `https://push.example.com/${'a'.repeat(length - 25)}`;
  // test/guarded-fetch.test.ts has more URLs that are not called.
  const wrong = [
    ...['push.example.com', 'http://push.example.com/a', 'https://example.com/a', 'https://10.0.0.1/a'],
    ...['https://user:secret@push.example.com/a', url(2_049)],
  ];
  for (const endpoint of wrong) {
    const fields = invalid(t, await add(user, { endpoint, keys }), 'endpoint');
    t.notMatch(JSON.stringify(fields), endpoint);
  }
  const others = ['https://a.push.example.net/a', 'http://localhost:9/a', 'https://127.0.0.1/a'];
  for (const endpoint of [url(2_048), ...others])
    t.equal((await add(user, { endpoint, keys })).status, 201, endpoint);
});

t.test('production rejects endpoints of this machine, and without a key there is nothing', async (t) => {
  const { JWT_SECRET: _, DATABASE_URL: __, ...environment } = production;
  const VAPID_PRIVATE_KEY = 'lf4hbWV9akSEqf-o-W3hlsb5lrPGeRusrH2IZrUcd2I';
  const on = await app.startInstance({ ...environment, VAPID_PRIVATE_KEY });
  const user = await createUser(on);
  const other = await pushesOf(t, on);
  t.match((await other.key(user)).body.data.public_key, /^BPjo_LaF/);
  const { endpoint, keys } = service.subscribe().subscription;
  for (const wrong of [endpoint, 'https://127.0.0.1/a', 'https://[::1]/a', 'https://a.localhost/'])
    invalid(t, await other.add(user, { endpoint: wrong, keys }), 'endpoint');
  t.equal((await other.add(user, { endpoint: 'https://web.push.apple.com/b', keys })).status, 201);

  const off = await app.startInstance(environment);
  const nothing = await pushesOf(t, off);
  for (const caller of [user, { token: undefined }]) {
    rejected(t, await nothing.key(caller), 404, 'not_found');
    rejected(t, await nothing.list(caller), 404, 'not_found');
    rejected(t, await nothing.add(caller, {}), 404, 'not_found');
    rejected(t, await nothing.remove(caller, 1), 404, 'not_found');
  }
});

/** How the session that subscribed is ended; `other` is a session of the same user. */
const endings: Record<string, (user: Subscriber, other: { token: string }) => Promise<unknown>> = {
  'a logout': ({ token }) => logOut(token),
  'a logout from afar': ({ token }, other) =>
    app.call('DELETE', `/auth/sessions/${sessionIdIn(token)}/`, { token: other.token }),
  'the end of all others': (_, { token }) => app.call('DELETE', '/auth/sessions/', { token }),
  'a change of the password': (_, { token }) => changePassword(token, password),
  'a change of the address': (_, { token }) => moveTo(token, `moved-${Math.random()}@new.example.com`),
  'a reset that proves the address': async ({ email }) => confirmReset(await newResetLink(app, email)),
  'the undo of a change': async ({ email, token, id }) => {
    await verifyEmails(app, { id });
    await moveTo(token, `undone-${Math.random()}@new.example.com`);
    return undoEmailChange(await latestUndoToken(app, email));
  },
  'a suspension': (user) => suspend(app, user),
  'a refresh token that is used again': async ({ token, refresh: old }) => {
    await refresh(old);
    const before = "ARRAY[now() - interval '1 hour']";
    await app.pool.query(`UPDATE sessions SET rotated_at = ${before} WHERE id = $1`, [sessionIdIn(token)]);
    return { status: (await refresh(old)).status === 401 ? 200 : 0 };
  },
  'the 100th login after it': async (user) => {
    const used = "last_used_at = now() - interval '1 day'";
    await app.pool.query(`UPDATE sessions SET ${used} WHERE id = $1`, [sessionIdIn(user.token)]);
    return app.pool.query(
      `INSERT INTO sessions (id, user_id, rotated_at, user_agent, ip, expires_at)
       SELECT gen_random_uuid(), $1, '{}', '', '', now() + interval '1 day' FROM generate_series(1, 99)`,
      [user.id],
    );
  },
  'the deletion of the account': (user) => deleteAccount(app, user),
};

t.test('a subscription ends with its session', async (t) => {
  for (const [name, end] of Object.entries(endings)) {
    const user = await createUser(app);
    const other = { ...user, ...(await logIn(app, user)) };
    const [own, others] = [await subscribe(user), await subscribe(other)];
    const result = await end(user, other);
    if (typeof result === 'object' && result !== null && 'status' in result)
      t.equal(result.status, 200, name);
    t.notOk(await readSubscription(own.id), name);
    const endsAll = /address$|undo|suspension|account$/.test(name) && !/^a change/.test(name);
    t.equal((await readSubscription(others.id)) === undefined, endsAll, `${name}: of the other session`);
  }
});

t.test('of a session that expired it goes on, until all others are ended', async (t) => {
  const user = await createUser(app);
  const { id, subscription } = await subscribe(user);
  const old = await subscribe(user);
  await app.pool.query('UPDATE push_subscriptions SET session_id = NULL WHERE id = $1', [old.id]);
  await app.pool.query('UPDATE sessions SET expires_at = now() WHERE user_id = $1', [user.id]);
  await app.pool.query('DELETE FROM sessions WHERE expires_at < now()');
  t.ok(await readSubscription(id));
  const login = await logIn(app, user);
  t.equal((await add(login, subscription)).status, 200, 'it belongs to the new session then');
  const second = await logIn(app, user);
  t.equal((await changePassword(login.token, password)).status, 200);
  t.ok(await readSubscription(id));
  t.notOk(await readSubscription(old.id), 'one of no session');
  tokenRejected(t, await add(second, subscription), 'revoked');
});

t.test('none is added to a session that ends meanwhile', async (t) => {
  const user = await createUser(app);
  const adding = () => add(user, service.subscribe().subscription);
  tokenRejected(t, await whileSessionsEnd(t, app, user, adding), 'revoked');
});
