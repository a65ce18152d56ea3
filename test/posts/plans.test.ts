import t from 'tap';
import { openDatabase } from '../../src/database/client.ts';
import { createMyPageRepository } from '../../src/my-page/repository.ts';
import { createPartnerRequestRepository } from '../../src/partner-requests/repository.ts';
import { createPostListRepository, type PostFilter } from '../../src/posts/repository/post-lists.ts';
import { createPostRepository } from '../../src/posts/repository/posts.ts';
import { createStoreListRepository, type StoreFilter } from '../../src/stores/repository/store-lists.ts';
import { createTestApp } from '../support/app.ts';
import { type Execution, explainingDatabase } from '../support/plans.ts';

const app = await createTestApp();
t.teardown(app.close);
const { pool } = app;

const stores = 3_000;
const posts = 9_000;
const modes = ['generic', 'custom'] as const;

// One in three posts has 카페, some have 희귀어; two stores are of category 11. The first store wrote every other post and
// sent a request for each of the others.
await pool.query(`
  BEGIN;
  INSERT INTO users (username, email, name, password_hash)
    SELECT 'seeded' || n, 'seeded' || n || '@example.com', '이름', 'x' FROM generate_series(1, ${stores}) n;
  INSERT INTO stores (owner_id, name, created_at)
    SELECT id, CASE WHEN id % 3 = 0 THEN '동네 카페' WHEN id % 1000 = 0 THEN '희귀점' ELSE '가게' END || id,
      timestamptz '2026-01-01' + id * interval '1 minute' FROM users;
  INSERT INTO store_category_links (store_id, category_id, position)
    SELECT id, CASE WHEN id % 1500 = 7 THEN 11 ELSE 1 + id % 10 END, 1 FROM stores;
  INSERT INTO posts (store_id, title, content, images, created_at)
    SELECT first.id + CASE WHEN n % 2 = 0 THEN 0 ELSE n % ${stores} END, '글 ' || n,
      CASE WHEN n % 3 = 0 THEN '카페' WHEN n % 2000 = 7 THEN '희귀어' ELSE '' END || ' 함께',
      '{https://example.com/1.jpg}', timestamptz '2026-01-01' + n * interval '1 minute'
    FROM generate_series(1, ${posts}) n, (SELECT min(id) AS id FROM stores) first;
  INSERT INTO partner_requests (post_id, sender_store_id, receiver_store_id, message, created_at)
    SELECT p.id, first.id, p.store_id, '함께', p.created_at
    FROM posts p, (SELECT min(id) AS id FROM stores) first WHERE p.store_id <> first.id;
  COMMIT`);
await pool.query('VACUUM ANALYZE');

async function listPosts(mode: (typeof modes)[number], filter: Partial<PostFilter>): Promise<Execution> {
  const { database, executions } = explainingDatabase(pool, mode);
  const everything = {
    ownerId: undefined,
    storeId: undefined,
    categoryId: undefined,
    q: '',
    after: undefined,
  };
  await createPostListRepository(database).list({ ...everything, limit: 21, ...filter });
  const [execution] = executions;
  if (execution === undefined) throw new Error('nothing was asked');
  return execution;
}

async function listStores(mode: (typeof modes)[number], filter: Partial<StoreFilter>): Promise<Execution> {
  const { database, executions } = explainingDatabase(pool, mode);
  await createStoreListRepository(database).list({
    ...{ categoryId: undefined, q: '', after: undefined, limit: 21 },
    ...filter,
  });
  const [execution] = executions;
  if (execution === undefined) throw new Error('nothing was asked');
  return execution;
}

for (const mode of modes) {
  t.test(`a word that is rare is found through the index (${mode} plan)`, async (t) => {
    for (const q of ['희귀어', '귀', '없는말', '없']) {
      const found = await listPosts(mode, { q });
      t.ok(found.indexes.includes('posts_search_idx'), q);
      t.ok(found.rowsRead < 600, `${q}: ${found.rowsRead} rows`);
      t.strictSame(
        found.scanned.filter((table) => ['posts', 'stores'].includes(table)),
        [],
      );
    }
    const named = await listStores(mode, { q: '희귀점' });
    t.ok(named.indexes.includes('stores_search_idx'));
    t.ok(named.rowsRead < 600, `${named.rowsRead} rows`);
  });

  t.test(`a word that is frequent is found among the newest rows (${mode} plan)`, async (t) => {
    for (const execution of [
      await listPosts(mode, { q: '카페' }),
      await listPosts(mode, { q: '카' }),
      await listPosts(mode, { q: '카페', after: { time: Date.UTC(2026, 0, 3), id: '1' } }),
      await listPosts(mode, {}),
      await listStores(mode, { q: '카페' }),
      await listStores(mode, {}),
    ]) {
      t.ok(execution.rowsRead < 400, `${execution.rowsRead} rows`);
      t.notOk(execution.indexes.some((index) => index.includes('search')));
    }
  });

  t.test(`a category is found whether it has many stores or few (${mode} plan)`, async (t) => {
    for (const categoryId of [1, 11, 12]) {
      for (const q of ['', '희귀어']) {
        const { rowsRead } = await listPosts(mode, { categoryId, q });
        t.ok(rowsRead < 2_700, `posts of ${categoryId} with ${q}: ${rowsRead} rows`);
      }
      const { rowsRead } = await listStores(mode, { categoryId });
      t.ok(rowsRead < 2_700, `stores of ${categoryId}: ${rowsRead} rows`);
    }
  });

  t.test(`a store's posts and my-page cost what they show (${mode} plan)`, async (t) => {
    const { rows } = await pool.query('SELECT id, owner_id FROM stores ORDER BY id LIMIT 1');
    const { id: storeId, owner_id: ownerId } = rows[0];
    for (const filter of [{ storeId }, { ownerId }, { ownerId, storeId }]) {
      const { rowsRead, scanned } = await listPosts(mode, filter);
      t.ok(rowsRead < 450, `${rowsRead} rows`);
      t.notOk(scanned.includes('posts'));
    }
    const { database, executions } = explainingDatabase(pool, mode);
    await createMyPageRepository(database).find(ownerId);
    t.equal(executions.length, 1, 'one statement');
    const [page] = executions;
    t.ok(page?.indexes.includes('posts_store_feed_idx'));
    t.ok(page?.indexes.includes('partner_requests_sender_store_id_created_at_id_idx'));
    t.ok((page?.rowsRead ?? 0) < 400, `${page?.rowsRead} rows`);
  });
}

t.test('counting against a quota reads what the quota allows, however much a store has', async (t) => {
  // Today, the first store wrote 30 posts, deleted half of them, and sent 100 requests.
  await pool.query(`
    INSERT INTO posts (store_id, title, content, images, deleted_at)
      SELECT first.id, '오늘 글', '함께', '{https://example.com/1.jpg}', CASE WHEN n % 2 = 0 THEN now() END
      FROM generate_series(1, 30) n, (SELECT min(id) AS id FROM stores) first;
    INSERT INTO partner_requests (post_id, sender_store_id, receiver_store_id, status, message)
      SELECT p.id, first.id, p.store_id, 'declined', '함께'
      FROM posts p, (SELECT min(id) AS id FROM stores) first WHERE p.store_id <> first.id LIMIT 100`);
  await pool.query('VACUUM ANALYZE posts, partner_requests');
  const { rows } = await pool.query(`
    SELECT s.id, s.owner_id, p.id AS post_id, p.store_id FROM stores s JOIN posts p ON p.store_id <> s.id
    ORDER BY s.id LIMIT 1`);
  const { id: sender, owner_id: ownerId, post_id: postId, store_id: receiver } = rows[0];
  const repositories = openDatabase({ url: app.url, poolSize: 2, pooled: false, onError: t.fail });
  t.teardown(repositories.close);
  const post = { title: '글', content: '내용', images: ['https://example.com/1.jpg'] };
  const request = { postId, sender, receiver, message: '함께' };
  for (const mode of modes) {
    const { database, executions } = explainingDatabase(pool, mode);
    await createPostRepository(repositories).create(database, ownerId, post, 30);
    await createPartnerRequestRepository(repositories).create(database, request, 100);
    const [, written, sent] = executions;
    t.equal(executions.length, 3, 'the lock of the store, and one statement each');
    t.ok(written?.indexes.includes('posts_deleted_idx'), `${mode} plan`);
    t.ok((written?.rowsRead ?? 0) < 40, `${mode} plan: ${written?.rowsRead} rows`);
    t.ok(sent?.indexes.includes('partner_requests_sender_store_id_created_at_id_idx'), `${mode} plan`);
    t.ok((sent?.rowsRead ?? 0) < 220, `${mode} plan: ${sent?.rowsRead} rows`);
  }
});
