import t from 'tap';
import { developmentLogin } from '../auth/development-login.ts';
import { origin, passkeysOf } from '../auth/passkeys.ts';
import { notificationsIn } from '../notifications/notified.ts';
import { pushesOf } from '../push/subscribed.ts';
import { addFailedMail, closeReport, createAdmin, sendReport } from '../support/admin.ts';
import { createTestApp, readPages, verifyEmails } from '../support/app.ts';
import { rejected } from '../support/assertions.ts';
import { uploadImage } from '../support/images.ts';
import {
  notificationsOf,
  readRequest,
  requestsPath,
  sendRequest,
  transition,
} from '../support/partner-requests.ts';
import { createPost, openShop } from '../support/stores.ts';
import { createAuthenticator } from '../support/webauthn.ts';

/** The first id that 32 bits cannot hold. */
const first = 2 ** 31;
const tables = 'posts partner_requests notifications images reports failed_mails audit_entries';

const app = await createTestApp({ DATA_DIR: t.testdir() });
const { call, pool } = app;
for (const table of tables.split(' ')) await pool.query(`ALTER SEQUENCE ${table}_id_seq RESTART ${first}`);

const shop = await openShop(app);
const other = await openShop(app, '옆집');
const admin = await createAdmin(app);
await verifyEmails(app, shop, other);

/** Reads a list one item per page. @returns the ids */
async function walk(path: string, { token }: { token: string }): Promise<number[]> {
  const first = `${path}${path.includes('?') ? '&' : '?'}limit=1`;
  return (await readPages((cursor) => call('GET', first + cursor, { token }))).flat();
}

t.test('posts and images', async (t) => {
  const image = await uploadImage(app, shop.token);
  const post = await createPost(app, shop.token, { images: [image.url], title: '큰 번호' });
  const next = await createPost(app, shop.token, { images: [] });
  t.strictSame([image.id, post.id, next.id], [first, first, first + 1]);
  for (const list of ['?mine=true', `?store_id=${shop.store.id}`, '?category_id=1', '']) {
    t.strictSame(await walk(`/api/v1/posts/${list}`, shop), [next.id, post.id], list);
  }
  t.strictSame(await walk(`/api/v1/posts/?q=${encodeURIComponent('큰번호')}`, other), [post.id]);
  const path = `/api/v1/posts/${post.id}/`;
  const removal = await call('DELETE', `/api/v1/images/${image.id}/`, { token: shop.token });
  rejected(t, removal, 409, 'image_in_use');
  const edited = await call('PATCH', path, { token: shop.token, body: { images: [] } });
  t.match(edited.body.data, { id: post.id, images: [] });
  t.equal((await call('DELETE', `/api/v1/images/${image.id}/`, { token: shop.token })).status, 200);
  t.equal((await call('DELETE', path, { token: shop.token })).status, 200);
  rejected(t, await call('GET', path, { token: shop.token }), 404, 'post_not_found');
});

t.test('partner requests and notifications', async (t) => {
  const posts = [await createPost(app, shop.token), await createPost(app, shop.token)];
  await app.mails.settled();
  const emails = () => app.mails.sent.filter(({ to }) => to === shop.email).length;
  const before = emails();
  const ids: number[] = [];
  for (const post of posts) ids.unshift(await sendRequest(app, other, post));
  t.strictSame(ids, [first + 1, first]);
  // An email about a request is sent only while the request has the status that the email tells of.
  await app.mails.settled();
  t.strictSame(await walk(`${requestsPath}?box=sent`, other), ids);
  t.strictSame(await walk(`${requestsPath}?box=received&status=${encodeURIComponent('요청됨')}`, shop), ids);
  t.strictSame(await walk('/api/v1/notifications/mypage/', shop), [first + 1, first]);
  t.equal((await transition(app, shop, first, 'accept')).status, 200);
  t.match((await readRequest(app, other, first)).body.data, { id: first, status: '수락됨' });
  const partners = await call('GET', '/api/v1/stores/partners/?limit=1', { token: shop.token });
  t.match(partners.body.data.items, [{ request_id: first }]);
  const { markRead } = notificationsIn(app);
  t.match((await markRead(shop, { ids: [first] })).body.data, { updated_count: 1, unread_count: 1 });
  const read = await notificationsOf(app, shop, '?is_read=true');
  t.match(read.items, [{ id: first, partner_request: { id: first, post_id: posts[0]?.id } }]);
  const all = await markRead(shop, { up_to_id: Number.MAX_SAFE_INTEGER });
  t.match(all.body.data, { updated_count: 1, unread_count: 0 });
  await app.mails.settled();
  t.equal(emails() - before, 2, 'emails find the requests');
});

t.test('reports and failed mails', async (t) => {
  const post = await createPost(app, shop.token);
  const reports = [
    await sendReport(app, other, 'stores', shop.store.id),
    await sendReport(app, other, 'posts', post.id),
  ];
  t.strictSame(reports, [first, first + 1]);
  t.strictSame(await walk('/api/v1/admin/reports/', admin), [first + 1, first]);
  const closed = await closeReport(app, admin, first + 1, 'hide');
  t.match(closed.body.data, { id: first + 1, post: { id: post.id } });
  rejected(t, await call('GET', `/api/v1/posts/${post.id}/`, { token: other.token }), 404, 'post_not_found');
  const mails = [await addFailedMail(app, shop), await addFailedMail(app, shop)];
  t.strictSame(await walk('/api/v1/admin/failed-mails/', admin), mails.reverse());
  const retried = await call('POST', `/api/v1/admin/failed-mails/${first}/retry/`, { token: admin.token });
  t.equal(retried.status, 200);
});

t.test('what is refused takes no id of 32 bits', async (t) => {
  const sequences = async () => {
    const { rows } = await pool.query<{ name: string; last: number }>(
      // Not those of the queue, which the worker uses meanwhile.
      `SELECT sequencename AS name, coalesce(last_value, 0) AS last FROM pg_sequences
        WHERE data_type::text = 'integer' AND schemaname = current_schema()`,
    );
    return Object.fromEntries(rows.map(({ name, last }) => [name, last]));
  };
  const post = (path: string, body: object, status: number, code: string, token?: string) =>
    call('POST', path, { body, token }).then((response) => rejected(t, response, status, code));
  const login = await developmentLogin(app, { subject: 'twice' });
  const newcomer = (await login.finish()).body.data;
  const another = (await (await developmentLogin(app, { subject: 'twice' })).finish()).body.data;
  const account = { username: 'someone.new', name: '김두레', email: 'someone.new@example.com' };
  const byProvider = (fields: object) => ({ ...account, ...fields });
  const path = '/auth/providers/sign-up/';
  const created = await call('POST', path, { body: byProvider({ sign_up_token: newcomer.sign_up_token }) });
  t.equal(created.status, 201, created.text);
  const pushes = await pushesOf(t, app);
  const { subscription } = await pushes.subscribe(other);
  const { createOwner, register } = passkeysOf(app);
  const { authenticator } = await createOwner();
  const before = await sequences();
  t.ok(Object.keys(before).length >= 6);
  await post('/api/v1/stores/', { name: '둘째', category_ids: [1] }, 409, 'store_exists', shop.token);
  const signUp = { ...account, password: 'gimbap-and-coffee-7' };
  await post('/auth/signup/', { ...signUp, username: shop.username }, 409, 'username_taken');
  await post('/auth/signup/', { ...signUp, username: 'another.one', email: shop.email }, 409, 'email_taken');
  const { sign_up_token } = another;
  const taken = { username: 'another.one', email: 'another@example.com', sign_up_token };
  await post(path, byProvider(taken), 409, 'identity_taken');
  const link = await developmentLogin(app, { subject: 'twice' }, { purpose: 'link', token: other.token });
  rejected(t, await link.finish(), 409, 'identity_taken');
  const copied = createAuthenticator(origin, { id: authenticator.id });
  rejected(t, await register(other, copied), 400, 'passkey_refused');
  t.equal((await pushes.add(other, subscription)).status, 200, 'sent again');
  t.strictSame(await sequences(), before);
});
