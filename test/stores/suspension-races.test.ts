import t from 'tap';
import { createTestApp, createUser, deleteAccount, logIn } from '../support/app.ts';
import { noErrorLogged, refused, tokenRefused } from '../support/assertions.ts';
import { lockRows } from '../support/concurrency.ts';
import {
  openTwoShops,
  requestPartnership,
  requestsPath,
  sendRequest,
  transition,
} from '../support/partner-requests.ts';
import { createPost, openShop } from '../support/stores.ts';

const app = await createTestApp();
t.teardown(app.close);

const suspension = 'UPDATE users SET suspended_at = now() WHERE id = $1';
const suspend = ({ id }: { id: number }) => app.pool.query(suspension, [id]);
const isSuspended = async (storeId: number): Promise<boolean> => {
  const { rows } = await app.pool.query('SELECT suspended_at FROM stores WHERE id = $1', [storeId]);
  return rows[0].suspended_at !== null;
};

t.test('a request to an account that is being suspended waits, and is refused', async (t) => {
  for (const [end, status] of [
    ['COMMIT', 404],
    ['ROLLBACK', 201],
  ] as const) {
    const { sender, receiver, post } = await openTwoShops(app);
    const lock = await lockRows(t, app, suspension, [receiver.id]);
    const asked = requestPartnership(app, sender, post);
    await lock.waiters(1);
    await lock.release(end);
    t.equal((await asked).status, status, end);
    if (status === 404) refused(t, await asked, 404, 'post_not_found');
  }
});

t.test('a request and a post of an account that is being suspended are refused', async (t) => {
  const { sender, post } = await openTwoShops(app);
  const lock = await lockRows(t, app, suspension, [sender.id]);
  const asked = requestPartnership(app, sender, post);
  await lock.waiters(1);
  const body = { title: '글', content: '내용', images: ['https://cdn.example.com/1.jpg'] };
  const written = app.call('POST', '/api/v1/posts/', { token: sender.token, body });
  await lock.waiters(2);
  await lock.release('COMMIT');
  refused(t, await asked, 403, 'store_required');
  refused(t, await written, 403, 'store_required');
});

t.test('a suspension waits for a request that is being sent', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  const lock = await lockRows(t, app, 'SELECT FROM posts WHERE id = $1 FOR UPDATE', [post.id]);
  const asked = requestPartnership(app, sender, post);
  await lock.waiters(1);
  const suspended = suspend(receiver);
  await lock.waiters(2);
  await lock.release();
  t.equal((await asked).status, 201);
  await suspended;
  const { body } = await app.call('GET', `${requestsPath}?box=sent`, { token: sender.token });
  t.strictSame(body.data.items, [(await asked).body.data], 'it is from before the suspension');
  const third = await openShop(app, '셋째 가게');
  refused(t, await requestPartnership(app, third, post), 404, 'post_not_found');
});

t.test('a store that is registered during the suspension of its account is refused or hidden', async (t) => {
  const headers = { 'idempotency-key': 'registered' };
  const register = ({ token }: { token: string }) =>
    app.call('POST', '/api/v1/stores/', { token, headers, body: { name: '새 가게', category_ids: [1] } });
  const first = await createUser(app);
  const suspending = await lockRows(t, app, suspension, [first.id]);
  const late = register(first);
  await suspending.waiters(1);
  await suspending.release('COMMIT');
  tokenRefused(t, await late, 'revoked');
  t.strictSame((await app.pool.query('SELECT FROM stores WHERE owner_id = $1', [first.id])).rows, []);
  await app.pool.query('UPDATE users SET suspended_at = NULL WHERE id = $1', [first.id]);
  const { token } = await logIn(app, first);
  t.equal((await register({ token })).status, 201, 'the key is free after the suspension');

  const second = await createUser(app);
  const registering = await lockRows(t, app, 'LOCK TABLE store_category_links IN EXCLUSIVE MODE');
  const early = register(second);
  await registering.waiters(1);
  const suspended = suspend(second);
  await registering.waiters(2);
  await registering.release();
  t.equal((await early).status, 201);
  await suspended;
  t.ok(await isSuspended((await early).body.data.id));
});

t.test('a suspension during the deletion of the account finds no account', async (t) => {
  const { sender, post } = await openTwoShops(app);
  const id = await sendRequest(app, sender, post);
  const lock = await lockRows(t, app, 'SELECT FROM partner_requests WHERE id = $1 FOR UPDATE', [id]);
  const deleted = deleteAccount(app, sender);
  await lock.waiters(1);
  const suspended = suspend(sender);
  await lock.waiters(2);
  await lock.release();
  t.equal((await deleted).status, 200);
  t.equal((await suspended).rowCount, 0);
});

t.test('a deletion that was confirmed before the suspension of the account follows it', async (t) => {
  const shop = await openShop(app, '떠나는 가게');
  const lock = await lockRows(t, app, suspension, [shop.id]);
  const deleted = deleteAccount(app, shop);
  await lock.waiters(1);
  await lock.release('COMMIT');
  t.equal((await deleted).status, 200);
  t.strictSame((await app.pool.query('SELECT FROM users WHERE id = $1', [shop.id])).rows, []);
});

t.test('suspensions, deletions and requests of two accounts at once do not deadlock', async (t) => {
  for (let round = 0; round < 5; round++) {
    const { sender, receiver, post } = await openTwoShops(app);
    const own = await createPost(app, sender.token);
    const pending = await sendRequest(app, receiver, own);
    const answers = await Promise.all([
      requestPartnership(app, sender, post),
      deleteAccount(app, receiver),
      suspend(receiver).then(() => []),
      transition(app, sender, pending, 'accept'),
      suspend(sender).then(() => []),
      deleteAccount(app, sender),
    ]);
    for (const { status, text } of answers.flat()) t.ok(status < 500, text);
  }
  noErrorLogged(t, app.logs);
});
