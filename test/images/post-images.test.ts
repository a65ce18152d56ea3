import t from 'tap';
import { createTestApp, createUser } from '../support/app.ts';
import { invalid, rejected, tally } from '../support/assertions.ts';
import { inOrder, inParallel, lockRows, rowOf } from '../support/concurrency.ts';
import { addImage, uploadImage } from '../support/images.ts';
import { createPost, openShop } from '../support/stores.ts';

const app = await createTestApp();
const { call } = app;
const posts = '/api/v1/posts/';
const foreign = 'https://cdn.example.com/1.jpg';
const draft = { title: '글', content: '내용' };

const remove = (token: string, id: number) => call('DELETE', `/api/v1/images/${id}/`, { token });
const write = (token: string, images: unknown) => call('POST', posts, { token, body: { ...draft, images } });
const change = (token: string, id: number, images: unknown) =>
  call('PATCH', `${posts}${id}/`, { token, body: { images } });

t.test('a post shows own uploaded images beside others, and may have none', async (t) => {
  const shop = await openShop(app, '두레 카페', { category_ids: [3, 1] });
  const { token } = shop;
  const [one, other] = [await addImage(app, shop), await addImage(app, shop)];
  const images = [one.url, foreign, other.url, one.url];
  const post = await createPost(app, token, { images });
  t.strictSame([post.images, post.thumbnail], [images, one.thumbnail_url]);
  t.strictSame((await call('GET', `${posts}${post.id}/`, { token })).body.data, post);
  const { rows } = await app.pool.query('SELECT images FROM posts WHERE id = $1', [post.id]);
  t.equal(rows[0].images[0], one.key, 'the base of the URLs is not kept');

  const reordered = await change(token, post.id, [foreign, one.url]);
  t.match(reordered.body.data, { images: [foreign, one.url], thumbnail: foreign });
  const emptied = await change(token, post.id, []);
  t.strictSame(emptied.body.data.images, []);
  const neutral = 'https://api.example.com/media/categories/3.webp';
  t.equal(emptied.body.data.thumbnail, neutral);
  const without = await call('POST', posts, { token, body: draft });
  t.match([without.status, without.body.data], [201, { images: [], thumbnail: neutral }]);
});

t.test('an image that the user cannot use is named by its place, in new posts and in changes', async (t) => {
  const shop = await openShop(app);
  const { token } = shop;
  const post = await createPost(app, token, { images: [] });
  const own = await addImage(app, shop);
  const unusable = {
    "somebody else's": (await addImage(app, await createUser(app))).url,
    unknown: own.url.replace(/.{10}\.webp$/, '0000000000.webp'),
    deleted: (await addImage(app, shop, 'deleted')).url,
    pending: (await addImage(app, shop, 'pending')).url,
    thumbnail: own.thumbnail_url,
    'with a query': `${own.url}?w=1`,
    'spelled otherwise': own.url.replace('api.example.com', 'API.example.com:443'),
    'with a coded letter': own.url.replace('/media/', '/%6Dedia/'),
    'with two slashes': own.url.replace('/media/', '//media/'),
    neutral: 'https://api.example.com/media/categories/1.webp',
    'of no image': 'https://api.example.com/media/x.jpg',
  };
  const { token: withoutStore } = await createUser(app);
  for (const [name, url] of Object.entries(unusable)) {
    const responses = await Promise.all([
      write(token, [own.url, url, foreign]),
      change(token, post.id, [own.url, url, foreign]),
      change(token, 2_147_483_647, [foreign, url]),
      write(withoutStore, [foreign, url]),
    ]);
    for (const response of responses) {
      invalid(t, response, '/images/1');
      t.equal(response.body.data.errors[0].code, 'not_found', name);
    }
  }
  const current = (await call('GET', `${posts}${post.id}/`, { token })).body.data;
  t.strictSame(current, post, 'nothing is half written');
  t.strictSame((await call('GET', `${posts}?mine=true`, { token })).body.data.items.length, 1);
  t.equal((await remove(token, own.id)).status, 200, 'a rejected post does not keep its images');
});

t.test('an image is deleted by its owner only, once, and not while a post has it', async (t) => {
  const { token } = await openShop(app);
  const image = await uploadImage(app, token);
  const { token: stranger } = await createUser(app);
  rejected(t, await remove(stranger, image.id), 404, 'image_not_found');
  rejected(t, await remove(token, 2_147_483_647), 404, 'image_not_found');
  const [one, other] = [
    await createPost(app, token, { images: [image.url] }),
    await createPost(app, token, { images: [foreign, image.url] }),
  ];
  rejected(t, await remove(token, image.id), 409, 'image_in_use');
  t.equal((await call('PATCH', `${posts}${one.id}/`, { token, body: { title: '새 제목' } })).status, 200);
  t.equal((await change(token, one.id, [foreign])).status, 200);
  rejected(t, await remove(token, image.id), 409, 'image_in_use');
  t.equal((await call('DELETE', `${posts}${other.id}/`, { token })).status, 200);
  const deletions = await inParallel(10, () => remove(token, image.id));
  t.strictSame(tally(deletions), { '200': 1, '404 image_not_found': 9 });
  for (const url of [image.url, image.thumbnail_url]) {
    t.equal((await call('GET', new URL(url).pathname)).status, 404);
  }
});

t.test('a post and a deletion of its image: the first one wins, whichever waits', async (t) => {
  const shop = await openShop(app);
  const { token } = shop;
  const post = await createPost(app, token, { images: [] });
  for (const use of [(url: string) => write(token, [url]), (url: string) => change(token, post.id, [url])]) {
    const image = await addImage(app, shop);
    // The deletion waits for the row; the post waits behind it.
    const deleteImage = () => remove(token, image.id);
    const [deletion, late] = await inOrder(t, app, rowOf('images', image), deleteImage, () => use(image.url));
    t.equal(deletion.status, 200);
    invalid(t, late, '/images/0');

    // The post has linked the image, and waits to write its title; the deletion waits for its end.
    const kept = await addImage(app, shop);
    const holder = await lockRows(t, app, 'SELECT FROM images WHERE id = $1 FOR KEY SHARE', [kept.id]);
    const waiting = remove(token, kept.id);
    await holder.waiters(1);
    await app.pool.query('INSERT INTO post_images (post_id, image_id) VALUES ($1, $2)', [post.id, kept.id]);
    await holder.release();
    rejected(t, await waiting, 409, 'image_in_use');
    await change(token, post.id, []);
  }
});

t.test('a post and its image deleted at the same time: the first one wins, without a deadlock', async (t) => {
  const shop = await openShop(app);
  const { token } = shop;
  for (const isPostFirst of [true, false]) {
    const image = await addImage(app, shop);
    const post = await createPost(app, token, { images: [image.url] });
    const deletePost = () => call('DELETE', `${posts}${post.id}/`, { token });
    const deleteImage = () => remove(token, image.id);
    const [first, second] = isPostFirst ? [deletePost, deleteImage] : [deleteImage, deletePost];
    const row: [string, number] = ['SELECT FROM images WHERE id = $1 FOR NO KEY UPDATE', image.id];
    const [one, other] = await inOrder(t, app, row, first, second);
    t.equal(other.status, 200);
    if (isPostFirst) t.equal(one.status, 200);
    else {
      rejected(t, one, 409, 'image_in_use');
      t.equal((await deleteImage()).status, 200);
    }
  }
});

t.test('a deletion of a post that waits for a change of its images lets the new ones go', async (t) => {
  const shop = await openShop(app);
  const { token } = shop;
  const image = await addImage(app, shop);
  const post = await createPost(app, token, { images: [] });
  // The change has the row of the post and waits for the image.
  const add = () => change(token, post.id, [image.url]);
  const deletePost = () => call('DELETE', `${posts}${post.id}/`, { token });
  const [changed, deleted] = await inOrder(t, app, rowOf('images', image), add, deletePost);
  t.strictSame([changed.status, deleted.status], [200, 200]);
  t.equal((await remove(token, image.id)).status, 200);
});

t.test('changes of one post at once keep the images of the last one only', async (t) => {
  const shop = await openShop(app);
  const { token } = shop;
  const urls = (await inParallel(4, () => addImage(app, shop))).map(({ url }) => url);
  const post = await createPost(app, token, { images: [] });
  await inParallel(8, (index) => change(token, post.id, urls.toSpliced(index % 4, 1)));
  const { rows } = await app.pool.query(
    `SELECT p.images, array_agg(i.key ORDER BY i.key) AS linked FROM posts p
     JOIN post_images l ON l.post_id = p.id JOIN images i ON i.id = l.image_id WHERE p.id = $1 GROUP BY p.id`,
    [post.id],
  );
  t.strictSame([...rows[0].images].sort(), rows[0].linked);
});
