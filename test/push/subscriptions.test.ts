import { createECDH } from 'node:crypto';
import t from 'tap';
import { production } from '../config/environments.ts';
import { createTestApp, createUser, deleteAccount } from '../support/app.ts';
import { invalid, rejected, tally } from '../support/assertions.ts';
import { inParallel } from '../support/concurrency.ts';
import { pushesOf } from './subscribed.ts';

const app = await createTestApp();
const { service, add, list, remove, key, subscribe, readSubscription } = await pushesOf(t, app);

const userAgent = 'Mozilla/5.0 (Linux; Android 16)';

t.test('a browser subscribes with the key of the service, and is listed', async (t) => {
  const user = await createUser(app);
  const { body } = await key(user);
  const point = Buffer.from(body.data.public_key, 'base64url');
  t.strictSame([point.length, point[0]], [65, 4]);

  const { subscription } = service.subscribe();
  const added = await add(user, subscription, { 'user-agent': userAgent });
  t.equal(added.status, 201);
  const { id, created_at } = added.body.data;
  t.strictSame(added.body.data, { id, user_agent: userAgent, created_at });
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
  t.equal(again.status, 200);
  t.match(again.body.data, { id: browser.id, user_agent: userAgent });
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
  const { rows } = await app.pool.query('SELECT FROM push_subscriptions WHERE endpoint = $1', [
    browser.subscription.endpoint,
  ]);
  t.equal(rows.length, 1, 'the endpoint belongs to the last one');
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

/** Endpoints that are never called. */
const wrongEndpoints = [
  ...['push.example.com', 'http://push.example.com/a', 'ftp://push.example.com/a', 'javascript:alert(1)'],
  ...['https://push.example.com:8443/a', 'https://user:secret@push.example.com/a', 'https://10.0.0.1/a'],
  ...['https://[::ffff:10.0.0.1]/a', 'https://0xa.0.0.1/a', `https://push.example.com/${'a'.repeat(2_024)}`],
];

t.test('an endpoint is a public https URL, outside production also one of this machine', async (t) => {
  const user = await createUser(app);
  const { keys } = service.subscribe().subscription;
  for (const endpoint of wrongEndpoints) {
    const fields = invalid(t, await add(user, { endpoint, keys }), 'endpoint');
    t.notMatch(JSON.stringify(fields), endpoint);
  }
  const long = `https://push.example.com/${'a'.repeat(2_023)}`;
  for (const endpoint of [long, 'https://8.8.8.8/a', 'http://localhost:9/a', 'https://127.0.0.1/a'])
    t.equal((await add(user, { endpoint, keys })).status, 201, endpoint);
});

t.test(
  'in production endpoints of this machine are rejected, and without a key there is nothing',
  async (t) => {
    const { JWT_SECRET: _, DATABASE_URL: __, ...environment } = production;
    const VAPID_PRIVATE_KEY = 'lf4hbWV9akSEqf-o-W3hlsb5lrPGeRusrH2IZrUcd2I';
    const options = { databaseUrl: app.url };
    const on = await createTestApp({ ...environment, VAPID_PRIVATE_KEY, WORKER_ENABLED: 'false' }, options);
    const user = await createUser(on);
    const other = await pushesOf(t, on);
    t.match((await other.key(user)).body.data.public_key, /^BPjo_LaF/);
    const { endpoint, keys } = service.subscribe().subscription;
    for (const wrong of [endpoint, 'https://127.0.0.1/a', 'https://[::1]/a', 'https://a.localhost/'])
      invalid(t, await other.add(user, { endpoint: wrong, keys }), 'endpoint');
    t.equal((await other.add(user, { endpoint: 'https://push.example.com/b', keys })).status, 201);

    const off = await createTestApp({ ...environment, WORKER_ENABLED: 'false' }, options);
    const nothing = await pushesOf(t, off);
    for (const caller of [user, { token: undefined }]) {
      for (const response of [
        await nothing.key(caller),
        await nothing.list(caller),
        await nothing.add(caller, {}),
        await nothing.remove(caller, 1),
      ]) {
        rejected(t, response, 404, 'not_found');
      }
    }
  },
);

t.test('logging out ends no subscription, deleting the account does', async (t) => {
  const user = await createUser(app);
  const { id } = await subscribe(user);
  await app.call('POST', '/auth/logout/', { token: user.token });
  t.ok(await readSubscription(id));
  const leaving = await createUser(app);
  const gone = await subscribe(leaving);
  t.equal((await deleteAccount(app, leaving)).status, 200);
  t.notOk(await readSubscription(gone.id));
});
