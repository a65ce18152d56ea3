import t from 'tap';
import { closeReport, createAdmin, sendReport } from '../support/admin.ts';
import { createTestApp, createUser, deleteAccount, readPages } from '../support/app.ts';
import { exhausted, rejected, tally, tokenRejected } from '../support/assertions.ts';
import { during, inParallel } from '../support/concurrency.ts';
import { createPost, openShop } from '../support/stores.ts';

const app = await createTestApp();
const { call, pool } = app;
const reportsPath = '/api/v1/admin/reports/';

const admin = await createAdmin(app);
const shop = await openShop(app);
const reader = await createUser(app);
const report = (path: string, body: unknown = { reason: 'spam' }, { token } = reader) =>
  call('POST', `/api/v1/${path}/report/`, { token, body });

t.test('the text of a report keeps its lines, and may be empty', async (t) => {
  const { id } = await createPost(app, shop.token);
  await report(`posts/${id}`, { reason: 'fraud', text: ' 첫 줄\r\n둘째 줄 ' });
  // As a form sends an empty text.
  await report(`stores/${shop.store.id}`, { reason: 'other', text: ' ' });
  const { body } = await call('GET', `${reportsPath}?limit=2`, { token: admin.token });
  const texts = body.data.items.map(({ text }: { text: string }) => text);
  t.strictSame(texts, ['', '첫 줄\n둘째 줄']);
});

t.test('reports are listed by status, newest first, in pages', async (t) => {
  const posts = [await createPost(app, shop.token), await createPost(app, shop.token)];
  const ids: number[] = [];
  for (const { id } of posts) ids.push(await sendReport(app, reader, 'posts', id));
  t.equal((await closeReport(app, admin, ids[0] ?? 0, 'none')).status, 200);
  const all = await pool.query('SELECT id, closed_at FROM reports ORDER BY created_at DESC, id DESC');
  for (const [status, rows] of [
    ['', all.rows],
    ['open', all.rows.filter(({ closed_at }) => closed_at === null)],
    ['closed', all.rows.filter(({ closed_at }) => closed_at !== null)],
  ] as const) {
    const listed = await readPages((cursor) =>
      call('GET', `${reportsPath}?status=${status}&limit=5${cursor}`, { token: admin.token }),
    );
    const expected = rows.map(({ id }) => id);
    t.strictSame(listed.flat(), expected, `status ${status}`);
  }
});

t.test('what the user cannot see cannot be reported', async (t) => {
  const post = await createPost(app, shop.token);
  await call('DELETE', `/api/v1/posts/${post.id}/`, { token: shop.token });
  rejected(t, await report(`posts/${post.id}`), 404, 'post_not_found');
  const gone = await openShop(app, '떠난 가게');
  const left = await createPost(app, gone.token);
  t.equal((await deleteAccount(app, gone)).status, 200);
  rejected(t, await report(`posts/${left.id}`), 404, 'post_not_found');
  rejected(t, await report(`stores/${gone.store.id}`), 404, 'store_not_found');
});

t.test('a user has one open report about a target, and another one after it was closed', async (t) => {
  const { id } = await createPost(app, shop.token);
  for (const [target, path] of [
    ['post', `posts/${id}`],
    ['store', `stores/${(await openShop(app)).store.id}`],
  ] as const) {
    const responses = await inParallel(10, () => report(path));
    t.strictSame(tally(responses), { '201': 1, '409 already_reported': 9 }, target);
    const created = responses.find(({ status }) => status === 201)?.body.data.id;
    const other = await report(path, undefined, await createUser(app));
    t.equal(other.body.data.id, created + 1, 'of another user; duplicates take no id');
    t.equal((await closeReport(app, admin, created, 'none')).status, 200);
    t.equal((await report(path)).status, 201);
    rejected(t, await report(path), 409, 'already_reported');
  }
});

t.test('reports about posts count for those about stores', async (t) => {
  const user = await createUser(app);
  await report(`posts/${(await createPost(app, shop.token)).id}`, undefined, user);
  await pool.query("UPDATE daily_counts SET count = 20 WHERE kind = 'report' AND owner_id = $1", [user.id]);
  exhausted(t, await report(`stores/${shop.store.id}`, undefined, user), 86_400, 82_800);
});

t.test('a report during the deletion of its account is rejected, or stays without a reporter', async (t) => {
  const { id } = await createPost(app, shop.token);
  const [early, late] = [await createUser(app), await createUser(app)];
  const reporting = () => report(`posts/${id}`, undefined, late);
  const reported = await during(t, app, ['DELETE FROM users WHERE id = $1', late.id], reporting);
  tokenRejected(t, reported, 'revoked');

  const kept = await sendReport(app, early, 'posts', id);
  t.equal((await deleteAccount(app, early)).status, 200);
  const { body } = await call('GET', `${reportsPath}?limit=1`, { token: admin.token });
  t.match(body.data.items, [{ id: kept, reporter: null, status: 'open' }]);
  t.match(await closeReport(app, admin, kept, 'none'), { status: 200, body: { data: { reporter: null } } });
});

t.test('a report keeps when it was closed first, and what was decided last and by whom', async (t) => {
  const other = await createAdmin(app);
  const { id: postId } = await createPost(app, shop.token);
  const id = await sendReport(app, reader, 'posts', postId);
  const close = (body: unknown, { token } = admin) =>
    call('POST', `${reportsPath}${id}/close/`, { token, body });
  const first = (await close({ action: 'hide', note: '확인함' })).body.data;
  t.match(first, { id, status: 'closed', action: 'hide', note: '확인함', closed_by: `admin:${admin.id}` });
  const second = (await close({ action: 'none' }, other)).body.data;
  t.strictSame(second, { ...first, action: 'none', note: '', closed_by: `admin:${other.id}` });
  rejected(t, await closeReport(app, admin, 2_147_483_647, 'hide'), 404, 'not_found');
});
