import t, { type Test } from 'tap';
import { createDiskStorage } from '../../../src/domains/images/storage.ts';
import { createTestApp, createUser, deleteAccount } from '../../support/app.ts';
import { lockRows } from '../../support/concurrency.ts';
import { cleanUp, imageFilesIn, uploadImage } from '../../support/images.ts';
import { createPost, openShop } from '../../support/stores.ts';

const directory = t.testdir();
const disk = createDiskStorage(`${directory}/media`);
let canDelete = true;
const storage = {
  put: disk.put,
  async delete(name: string) {
    if (!canDelete) throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
    await disk.delete(name);
  },
};
const app = await createTestApp({ DATA_DIR: directory }, { serverErrors: true, storage });
// Its worker cleans up, too.
await app.startInstance({ DATA_DIR: directory, WORKER_ENABLED: 'true' }, { serverErrors: true, storage });

const files = () => imageFilesIn(`${directory}/media`);
const filesOf = ({ url }: { url: string }) => {
  const name = new URL(url).pathname.replace('/media/', '');
  return [name.replace('.webp', '-480.webp'), name];
};

/** Moves images into the past, as if they had been uploaded then. */
async function age(hours: number, ...images: { id: number }[]): Promise<void> {
  await app.pool.query(
    `UPDATE images SET created_at = created_at - make_interval(hours => $2),
       check_after = check_after - make_interval(hours => $2) WHERE id = ANY ($1)`,
    [images.map(({ id }) => id), hours],
  );
}

/** The rows of erased images are deleted later. */
async function states(t: Test, expected: string[], ...images: { id: number }[]) {
  const { rows } = await app.pool.query('SELECT id, state FROM images');
  const found = images.map(({ id }) => rows.find((row) => row.id === id)?.state ?? 'erased');
  t.strictSame(found, expected);
}

t.test('what no post uses 24 hours after the upload is deleted, and nothing else', async (t) => {
  const { token } = await openShop(app);
  const used = await uploadImage(app, token);
  const unused = await uploadImage(app, token);
  const recent = await uploadImage(app, token);
  const former = await uploadImage(app, token);
  const late = await uploadImage(app, token);
  await createPost(app, token, { images: [used.url] });
  const post = await createPost(app, token, { images: [former.url, late.url] });
  await age(25, used, unused, former, late);
  await age(23, recent);
  await cleanUp(app, 2);
  t.strictSame(await files(), [used, recent, former, late].flatMap(filesOf).sort());
  await states(t, ['ready', 'erased', 'ready', 'ready', 'ready'], used, unused, recent, former, late);

  // Former images of a post go with the next run: of a changed one, and of a deleted one.
  const url = `/api/v1/posts/${post.id}/`;
  await app.call('PATCH', url, { token, body: { images: [late.url] } });
  await cleanUp(app);
  t.strictSame(await files(), [used, recent, late].flatMap(filesOf).sort());
  await app.call('DELETE', url, { token });
  await cleanUp(app);
  t.strictSame(await files(), [used, recent].flatMap(filesOf).sort());
  await age(1, recent);
  await cleanUp(app);
  t.strictSame(await files(), filesOf(used));
});

t.test('an image that a post gets while the clean-up looks at it stays', async (t) => {
  const { token } = await openShop(app);
  const image = await uploadImage(app, token);
  const deleted = await uploadImage(app, token);
  await app.pool.query(`UPDATE images SET state = 'deleted' WHERE id = $1`, [deleted.id]);
  await age(25, image, deleted);
  // A post that is being written has the lock of the image, another instance that of the deleted one; the clean-up does not
  // wait for them.
  const ids = [image.id, deleted.id];
  const writing = await lockRows(t, app, 'SELECT FROM images WHERE id = ANY ($1) FOR KEY SHARE', [ids]);
  await cleanUp(app);
  await writing.release();
  await states(t, ['ready', 'deleted'], image, deleted);
  await createPost(app, token, { images: [image.url] });
  await cleanUp(app);
  await states(t, ['ready', 'erased'], image, deleted);
});

t.test('images of a deleted account are deleted', async (t) => {
  const before = await files();
  const shop = await openShop(app);
  const own = await uploadImage(app, shop.token);
  const posted = await uploadImage(app, shop.token);
  await createPost(app, shop.token, { images: [posted.url] });
  await deleteAccount(app, shop);
  await cleanUp(app);
  t.strictSame(await files(), before);
  await states(t, ['erased', 'erased'], own, posted);
});

t.test('a storage that cannot delete keeps the row for a later run', async (t) => {
  const { token } = await createUser(app);
  const image = await uploadImage(app, token);
  canDelete = false;
  t.equal((await app.call('DELETE', `/api/v1/images/${image.id}/`, { token })).status, 200);
  await cleanUp(app);
  await states(t, ['deleted'], image);
  canDelete = true;
  await app.pool.query('UPDATE images SET check_after = now() WHERE id = $1', [image.id]);
  await cleanUp(app);
  await states(t, ['erased'], image);
  t.notOk((await files()).includes(filesOf(image)[0] ?? ''));
});
