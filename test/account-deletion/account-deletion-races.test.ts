import t from 'tap';
import { signUpBody } from '../auth/accounts.ts';
import { createSettledUser, newResetLink } from '../auth/mailbox.ts';
import { createTestApp, createUser, deleteAccount, password } from '../support/app.ts';
import { refused, tally, tokenRefused } from '../support/assertions.ts';
import { inParallel, lockRows, waitForSleep } from '../support/concurrency.ts';
import {
  becomePartners,
  notifiedOf,
  openTwoShops,
  requestPartnership,
  sendRequest,
  strandedRequests,
} from '../support/partner-requests.ts';
import { createPost, createStore, openShop } from '../support/stores.ts';

const app = await createTestApp();
t.teardown(app.close);

const posts = '/api/v1/posts/';
const stores = '/api/v1/stores/';
const me = (token: string) => app.call('GET', '/auth/me/', { token });
const tryLogin = (username: string) => app.call('POST', '/auth/login/', { body: { username, password } });

t.test('of 20 concurrent deletions, one removes the account', async (t) => {
  const user = await createUser(app);
  const answers = await inParallel(20, () => deleteAccount(app, user));
  t.strictSame(tally(answers), { '200': 1, '401 token_not_valid': 19 });
});

t.test('of sign-ups during a deletion, at most one gets the username', async (t) => {
  const user = await createUser(app);
  const [deleted, ...signups] = await Promise.all([
    deleteAccount(app, user),
    ...Array.from({ length: 10 }, () =>
      app.call('POST', '/auth/signup/', { body: signUpBody({ username: user.username, email: user.email }) }),
    ),
  ]);
  t.equal(deleted.status, 200);
  const { '201': created = 0, '409 username_taken': taken = 0, '409 email_taken': used = 0 } = tally(signups);
  t.ok(created <= 1);
  t.equal(created + taken + used, 10, JSON.stringify(tally(signups)));
});

t.test('logins, refreshes and changes during a deletion leave nothing', async (t) => {
  const user = await createUser(app);
  const answers = await Promise.all([
    deleteAccount(app, user),
    ...Array.from({ length: 5 }, () => tryLogin(user.username)),
    ...Array.from({ length: 5 }, () =>
      app.call('POST', '/auth/token/refresh/', { body: { refresh: user.refresh } }),
    ),
    ...Array.from({ length: 5 }, () =>
      app.call('PATCH', '/auth/me/', { token: user.token, body: { name: '바뀐 이름' } }),
    ),
    app.call('POST', '/auth/change-password/', {
      token: user.token,
      body: { current_password: password, new_password: 'rice-cake-at-dawn-3' },
    }),
  ]);
  t.ok(
    answers.every(({ status }) => status === 200 || status === 401),
    JSON.stringify(tally(answers)),
  );
  for (const { status, body } of answers) {
    if (status === 200 && body.data.access) tokenRefused(t, await me(body.data.access), 'revoked');
  }
  const { rows } = await app.pool.query('SELECT 1 FROM users WHERE id = $1', [user.id]);
  t.equal(rows.length, answers[0]?.status === 200 ? 0 : 1);
});

t.test('a store registered during the deletion of its account is closed', async (t) => {
  for (let round = 0; round < 4; round++) {
    const user = await createUser(app);
    const name = `떠나는 가게 ${round}`;
    const [gone, registered] = await Promise.all([
      deleteAccount(app, user),
      app.call('POST', stores, { token: user.token, body: { name, category_ids: [1] } }),
    ]);
    t.equal(gone.status, 200);
    t.ok([201, 401].includes(registered.status), `status ${registered.status}`);
    const { rows } = await app.pool.query(
      'SELECT count(*)::int AS open FROM stores WHERE name = $1 AND closed_at IS NULL',
      [name],
    );
    t.equal(rows[0].open, 0);
  }
});

t.test('a post written during the deletion of its account is deleted', async (t) => {
  for (let round = 0; round < 4; round++) {
    const shop = await openShop(app, '떠나는 가게');
    const { token, store } = shop;
    const body = { title: '글', content: '내용', images: ['https://cdn.example.com/1.jpg'] };
    const [gone, ...written] = await Promise.all([
      deleteAccount(app, shop),
      ...Array.from({ length: 4 }, () => app.call('POST', posts, { token, body })),
    ]);
    t.equal(gone.status, 200);
    for (const { status } of written) t.ok([201, 401, 403].includes(status), `status ${status}`);
    const { rows } = await app.pool.query(
      'SELECT count(*)::int AS posts FROM posts WHERE store_id = $1 AND deleted_at IS NULL',
      [store.id],
    );
    t.equal(rows[0].posts, 0);
  }
});

t.test('a password reset of an account in deletion is refused', async (t) => {
  const user = await createSettledUser(app);
  const link = await newResetLink(app, user.email);
  const lock = await lockRows(t, app, 'DELETE FROM users WHERE id = $1', [user.id]);
  const body = { ...link, new_password: 'rice-cake-at-dawn-3' };
  const reset = app.call('POST', '/auth/reset-password-confirm/', { body });
  await lock.waiters(1);
  await lock.release('COMMIT');
  refused(t, await reset, 400, 'reset_link_invalid');
});

t.test('a store in an uncommitted registration is closed by the deletion of its account', async (t) => {
  const user = await createUser(app);
  await app.pool.query(`
    CREATE FUNCTION pause() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.7); RETURN NEW; END $$;
    CREATE TRIGGER pause BEFORE INSERT ON store_category_links FOR EACH ROW EXECUTE FUNCTION pause()`);
  t.teardown(() => app.pool.query('DROP FUNCTION pause CASCADE'));
  const registered = createStore(app, user.token);
  await waitForSleep(app);
  const body = { password: user.password };
  t.equal((await app.call('DELETE', '/auth/me/', { token: user.token, body })).status, 200);
  const { id } = await registered;
  const { rows } = await app.pool.query('SELECT owner_id, closed_at FROM stores WHERE id = $1', [id]);
  t.equal(rows[0].owner_id, null);
  t.ok(rows[0].closed_at);
});

t.test('requests from and to an account in deletion are refused', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  const own = await createPost(app, sender.token);
  const id = await sendRequest(app, receiver, own);
  const lock = await lockRows(t, app, 'SELECT FROM partner_requests WHERE id = $1 FOR UPDATE', [id]);
  const deleted = deleteAccount(app, sender);
  await lock.waiters(1);
  const third = await openShop(app, '셋째 가게');
  const asked = requestPartnership(app, third, own);
  const asking = requestPartnership(app, sender, post, { 'idempotency-key': 'leaving' });
  await lock.waiters(3);
  await lock.release();
  t.equal((await deleted).status, 200);
  refused(t, await asked, 404, 'post_not_found');
  refused(t, await asking, 403, 'store_required');
  t.strictSame(await strandedRequests(app), []);
  const { rows } = await app.pool.query("SELECT FROM idempotency_keys WHERE key = 'leaving'");
  t.equal(rows.length, 0);
});

t.test('a request in progress is withdrawn by the deletion of the account that it is sent to', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  const lock = await lockRows(t, app, 'SELECT FROM posts WHERE id = $1 FOR UPDATE', [post.id]);
  const asked = requestPartnership(app, sender, post);
  await lock.waiters(1);
  const deleted = deleteAccount(app, receiver);
  await lock.waiters(2);
  await lock.release();
  t.equal((await asked).status, 201);
  t.equal((await deleted).status, 200);
  t.strictSame(await notifiedOf(app, sender), [['withdrawn', (await asked).body.data.id, '취소됨']]);
});

t.test(
  'two accounts with requests to each other can be deleted concurrently without a deadlock',
  async (t) => {
    for (let round = 0; round < 4; round++) {
      const { sender, receiver } = await openTwoShops(app);
      for (let index = 0; index < 4; index++) {
        await sendRequest(app, sender, await createPost(app, receiver.token));
        await sendRequest(app, receiver, await createPost(app, sender.token));
        await becomePartners(app, { sender, receiver, post: await createPost(app, receiver.token) });
      }
      const deletions = await Promise.all([deleteAccount(app, sender), deleteAccount(app, receiver)]);
      t.strictSame(tally(deletions), { 200: 2 });
      t.strictSame(await strandedRequests(app), []);
    }
  },
);
