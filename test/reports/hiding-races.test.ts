import t from 'tap';
import { closeReport, createAdmin, sendReport } from '../support/admin.ts';
import { createTestApp, createUser, deleteAccount } from '../support/app.ts';
import { during, inOrder, rowOf } from '../support/concurrency.ts';
import { addImage } from '../support/images.ts';
import { countRows } from '../support/rows.ts';
import { createPost, openShop, type Shop, type TestPost } from '../support/stores.ts';

const app = await createTestApp();
const { call, pool } = app;

const admin = await createAdmin(app);
const reader = await createUser(app);
const read = (path: string) => call('GET', path, { token: reader.token });
const postPath = ({ id }: TestPost) => `/api/v1/posts/${id}/`;
const storePath = ({ store }: Shop) => `/api/v1/stores/${store.id}/`;
const stateOf = async (table: 'posts' | 'stores', id: number) =>
  (await pool.query(`SELECT * FROM ${table} WHERE id = $1`, [id])).rows[0];

t.test('a deletion of the account deletes hidden posts, and none brings them back', async (t) => {
  const open = async () => {
    const shop = await openShop(app);
    const image = await addImage(app, shop);
    const post = await createPost(app, shop.token, { images: [image.url] });
    const ofPost = await sendReport(app, reader, 'posts', post.id);
    const ofStore = await sendReport(app, reader, 'stores', shop.store.id);
    return { shop, image, post, ofPost, ofStore };
  };
  const check = async ({ shop, image, post, ofPost, ofStore }: Awaited<ReturnType<typeof open>>) => {
    for (const report of [ofPost, ofStore])
      for (const action of ['none', 'hide'] as const)
        t.match((await closeReport(app, admin, report, action)).body.data, { action });
    t.match(await stateOf('posts', post.id), { content: '', images: [], deleted_at: Date });
    t.match(await stateOf('stores', shop.store.id), { hidden_at: null, closed_at: Date });
    t.equal(await countRows(app, 'post_images WHERE post_id = $1', post.id), 0, 'its images are given up');
    const { rows } = await pool.query('SELECT user_id, check_after FROM images WHERE id = $1', [image.id]);
    t.match(rows, [{ user_id: null, check_after: Date }], 'and looked at by the clean-up');
  };
  const one = await open();
  for (const report of [one.ofPost, one.ofStore]) await closeReport(app, admin, report, 'hide');
  t.equal((await deleteAccount(app, one.shop)).status, 200);
  await check(one);

  for (const isHidden of [true, false]) {
    const other = await open();
    if (isHidden) await closeReport(app, admin, other.ofPost, 'hide');
    const [deleted, closed] = await Promise.all([
      deleteAccount(app, other.shop),
      closeReport(app, admin, other.ofPost, isHidden ? 'none' : 'hide'),
    ]);
    t.strictSame([deleted.status, closed.status], [200, 200]);
    await check(other);
  }
});

t.test('of two decisions at once the later one sees the earlier one', async (t) => {
  const shop = await openShop(app);
  const post = await createPost(app, shop.token);
  for (const [kind, id, path] of [
    ['posts', post.id, postPath(post)],
    ['stores', shop.store.id, storePath(shop)],
  ] as const) {
    const one = await sendReport(app, reader, kind, id);
    const other = await sendReport(app, await createUser(app), kind, id);
    await closeReport(app, admin, one, 'hide');
    // Both have decided and not committed yet, unless the second one waits for the first.
    const entries: [string] = ['LOCK TABLE audit_entries IN EXCLUSIVE MODE'];
    const show = () => closeReport(app, admin, one, 'none');
    const hide = () => closeReport(app, admin, other, 'hide');
    const [shown, hidden] = await inOrder(t, app, entries, show, hide);
    t.strictSame([shown.status, hidden.status], [200, 200]);
    t.equal((await read(path)).status, 404, `${kind}: the other report hides it`);
    await closeReport(app, admin, other, 'none');
    t.equal((await read(path)).status, 200);
  }
});

t.test('a suspension that waits for a store which is being shown again hides it', async (t) => {
  const shop = await openShop(app);
  const report = await sendReport(app, reader, 'stores', shop.store.id);
  await closeReport(app, admin, report, 'hide');
  const suspension = 'UPDATE users SET suspended_at = now() WHERE id = $1';
  const show = () => closeReport(app, admin, report, 'none');
  t.equal((await during(t, app, [suspension, shop.id], show)).status, 200);
  t.match(await stateOf('stores', shop.store.id), { hidden_at: null, suspended_at: Date });
});

t.test('a post that is hidden while its owner changes or deletes it ends hidden or deleted', async (t) => {
  for (const [method, body] of [
    ['PATCH', { title: '바뀐 제목' }],
    ['DELETE', undefined],
  ] as const) {
    const shop = await openShop(app);
    const { token } = shop;
    for (const isFirst of [true, false]) {
      const post = await createPost(app, token);
      const report = await sendReport(app, reader, 'posts', post.id);
      const hide = () => closeReport(app, admin, report, 'hide');
      const change = () => call(method, postPath(post), { token, body });
      const [first, second] = isFirst ? [hide, change] : [change, hide];
      const responses = await inOrder(t, app, rowOf('posts', post), first, second);
      const [hidden, changed] = isFirst ? responses : responses.toReversed();
      t.equal(hidden?.status, 200);
      t.equal(changed?.status, isFirst ? 404 : 200, `${method} ${isFirst}`);
      t.equal((await read(postPath(post))).status, 404);
      await closeReport(app, admin, report, 'none');
      const isGone = method === 'DELETE' && !isFirst;
      t.equal((await read(postPath(post))).status, isGone ? 404 : 200, 'a deleted post stays deleted');
      const { content, hidden_at } = await stateOf('posts', post.id);
      t.strictSame([content === '', hidden_at], [isGone, null]);
    }
  }
});

t.test('a post that is shown again while its account is deleted is deleted', async (t) => {
  const shop = await openShop(app);
  const post = await createPost(app, shop.token);
  const report = await sendReport(app, reader, 'posts', post.id);
  await closeReport(app, admin, report, 'hide');
  const show = () => closeReport(app, admin, report, 'none');
  const [shown, deleted] = await inOrder(t, app, rowOf('posts', post), show, () => deleteAccount(app, shop));
  t.strictSame([shown.status, deleted.status], [200, 200]);
  t.match(await stateOf('posts', post.id), { content: '', hidden_at: null, deleted_at: Date });
});
