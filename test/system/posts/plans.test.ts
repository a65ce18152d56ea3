import t from 'tap';
import { createPartnerRequestChanges } from '../../../src/domains/partner-requests/repository/changes.ts';
import { createPostRepository, type PostFilter } from '../../../src/domains/posts/repository.ts';
import { listStores } from '../../../src/domains/stores/repository.ts';
import type { Tx } from '../../../src/infrastructure/database/client.ts';
import type { BoundedPage } from '../../../src/infrastructure/database/keyset.ts';
import type { SearchFilter, scanBudgets } from '../../../src/infrastructure/search/sources.ts';
import { createTestApp } from '../../support/app.ts';
import { openTestDatabase } from '../../support/database.ts';
import { type Execution, explainingDatabase, mailQueue } from '../../support/plans.ts';

const app = await createTestApp({}, { isolated: true });
const { pool } = app;
const answers = openTestDatabase(t, app.url);

const stores = 3_000;
const posts = 16_000;
const modes = ['generic', 'custom'] as const;
type Mode = (typeof modes)[number];

// Creating the search indexes afterwards takes a fraction of the time.
const { rows: searchIndexes } = await pool.query<{ indexname: string; indexdef: string }>(
  `SELECT indexname, indexdef FROM pg_indexes WHERE indexname LIKE 'posts_search%'`,
);
for (const { indexname } of searchIndexes) await pool.query(`DROP INDEX ${indexname}`);

// One in three posts has 카페, some have 희귀어, half of them 예전, all of them every part of 가나다라 but not the whole; two
// stores are of category 11. The first store wrote every other post and sent a request for each of the others.
await pool.query(`
  BEGIN;
  INSERT INTO users (username, email, name, password_hash)
    SELECT 'seeded' || n, 'seeded' || n || '@example.com', '이름', 'x' FROM generate_series(1, ${stores}) n;
  INSERT INTO stores (owner_id, name, address, description, region_keys, created_at)
    SELECT id, CASE WHEN id % 3 = 0 THEN '동네 카페' WHEN id % 1000 = 0 THEN '희귀점' ELSE '가게' END || id,
      CASE WHEN id % 1000 = 1 THEN '드문길 ' ELSE '큰길 ' END || id, '가나 다나 다라',
      ARRAY[CASE WHEN id % 1000 = 500 THEN '드문구' ELSE '큰구' END], timestamptz '2026-01-01' + id * interval '1 minute' FROM users;
  INSERT INTO store_category_links (store_id, category_id, position)
    SELECT id, CASE WHEN id % 1500 = 7 THEN 11 ELSE 1 + id % 10 END, 1 FROM stores;
  SET LOCAL session_replication_role = replica;
  INSERT INTO posts (store_id, title, content, images, search_text, created_at)
    SELECT first.id + CASE WHEN n % 2 = 0 THEN 0 ELSE n % ${stores} END, '글 ' || n, '함께', '{https://example.com/1.jpg}',
      CASE WHEN n % 3 = 0 THEN '카페' WHEN n % 2000 = 7 THEN '희귀어' ELSE '' END ||
      CASE WHEN n < ${posts / 2} THEN '예전' ELSE '' END || '가나다나다라', timestamptz '2026-01-01' + n * interval '1 minute'
    FROM generate_series(1, ${posts}) n, (SELECT min(id) AS id FROM stores) first;
  INSERT INTO partner_requests (post_id, sender_store_id, receiver_store_id, message, created_at)
    SELECT p.id, first.id, p.store_id, '함께', p.created_at
    FROM posts p, (SELECT min(id) AS id FROM stores) first WHERE p.store_id <> first.id AND p.id % 3 = 1;
  COMMIT`);
for (const { indexdef } of searchIndexes) await pool.query(indexdef);
await pool.query('VACUUM ANALYZE');
const first = await pool
  .query(
    'SELECT s.id, owner_id, category_id FROM stores s JOIN store_category_links ON store_id = s.id ORDER BY s.id LIMIT 1',
  )
  .then(({ rows: [store] }) => ({
    storeId: store.id,
    ownerId: store.owner_id,
    categoryId: store.category_id,
  }));

/** What a search did, over all its statements. */
interface Work extends Execution {
  /** Whether the search stopped before the end of the list. */
  stopped: boolean;
}

async function work(mode: Mode, search: (database: Tx) => Promise<BoundedPage<unknown>>): Promise<Work> {
  const { database, executions } = explainingDatabase(answers, mode, { answering: true });
  const { stoppedAt } = await search(database);
  return {
    stopped: stoppedAt !== undefined,
    rowsRead: executions.reduce((sum, { rowsRead }) => sum + rowsRead, 0),
    buffers: executions.reduce((sum, { buffers }) => sum + buffers, 0),
    sorted: Math.max(...executions.map(({ sorted }) => sorted)),
    indexes: executions.flatMap(({ indexes }) => indexes),
    scanned: executions.flatMap(({ scanned }) => scanned),
  };
}

const everything = {
  userId: first.ownerId,
  ownerId: undefined,
  storeId: undefined,
  categoryId: undefined,
  region: '',
  near: undefined,
  q: '',
  status: 'open' as const,
  after: undefined,
  limit: 21,
};

function listPosts(mode: Mode, filter: Partial<PostFilter>): Promise<Work> {
  return work(mode, (database) => createPostRepository(database).list({ ...everything, ...filter }));
}

function workOfStores(mode: Mode, filter: Partial<SearchFilter>): Promise<Work> {
  return work(mode, (database) => listStores(database, { ...everything, ...filter }));
}

/** Which of the tables that grow were read by a sequential scan. */
function tablesScanned({ scanned }: Work): string[] {
  return scanned.filter((table) => ['posts', 'stores', 'store_category_links'].includes(table));
}

for (const mode of modes) {
  t.test(`a word that is rare is found through the index (${mode} plan)`, async (t) => {
    for (const filter of [
      ...['희귀어', '귀', '없는말', '없', '가나다라마'].map((q) => ({ q })),
      { q: '희귀어', categoryId: 1 },
      { q: '희귀어', storeId: first.storeId },
    ]) {
      const found = await listPosts(mode, filter);
      const label = JSON.stringify(filter);
      t.ok(found.indexes.includes('posts_search_keys_idx'), label);
      t.ok(found.rowsRead < 1_800, `${label}: ${found.rowsRead} rows`);
      t.strictSame(tablesScanned(found), [], label);
      t.notOk(found.stopped, label);
    }
    for (const q of ['희귀점', '드문 길', '없는 길']) {
      const found = await workOfStores(mode, { q });
      t.ok(found.indexes.includes('stores_search_keys_idx'), q);
      t.ok(found.rowsRead < 1_800, `${q}: ${found.rowsRead} rows`);
      t.strictSame(tablesScanned(found), [], q);
    }
  });

  t.test(`a word that is frequent is found among the newest rows (${mode} plan)`, async (t) => {
    for (const execution of [
      await listPosts(mode, { q: '카페' }),
      await listPosts(mode, { q: '카' }),
      await listPosts(mode, { q: '카페', after: { time: Date.UTC(2026, 0, 3), id: '1' } }),
      await listPosts(mode, { q: '카페', storeId: first.storeId }),
      await listPosts(mode, {}),
      await workOfStores(mode, { q: '카페' }),
      await workOfStores(mode, { q: '큰길' }),
      await workOfStores(mode, {}),
      // The page has the store with half of all posts.
      await workOfStores(mode, { after: { time: Date.UTC(2026, 0, 1, 0, 20), id: '1' } }),
    ]) {
      t.ok(execution.rowsRead < 400, `${execution.rowsRead} rows`);
      t.ok(execution.buffers < 700, `${execution.buffers} pages`);
      t.ok(execution.sorted <= 21, `${execution.sorted} rows sorted`);
      t.notOk(execution.indexes.some((index) => index.includes('search')));
      t.notOk(execution.stopped);
    }
  });

  t.test(`a search without a rare part examines a part of the posts, in order (${mode} plan)`, async (t) => {
    const filters: Partial<PostFilter>[] = [
      { q: '가나다라' },
      { q: '예전' },
      { q: '가나다라', categoryId: first.categoryId },
      { q: '가나다라', storeId: first.storeId },
      { q: '가나다라', ownerId: first.ownerId, categoryId: first.categoryId },
    ];
    for (const filter of filters) {
      const found = await listPosts(mode, filter);
      const label = JSON.stringify(filter);
      t.ok(found.stopped, label);
      // The rows of the scans with their stores, and those of the category before them.
      const bound = filter.categoryId !== undefined && filter.ownerId === undefined ? 12_000 : 9_000;
      t.ok(found.rowsRead < bound, `${label}: ${found.rowsRead} rows`);
      t.ok(found.sorted <= 300, `${label}: ${found.sorted} rows sorted`);
      t.strictSame(tablesScanned(found), [], label);
    }
  });

  t.test(`a category is found whether it has many stores or few (${mode} plan)`, async (t) => {
    for (const categoryId of [(first.categoryId % 10) + 1, 11, 12]) {
      for (const q of ['', '희귀어']) {
        const { rowsRead, buffers } = await listPosts(mode, { categoryId, q });
        t.ok(rowsRead < 4_000, `posts of ${categoryId} with ${q}: ${rowsRead} rows`);
        t.ok(buffers < 1_650, `posts of ${categoryId} with ${q}: ${buffers} pages`);
      }
      const { rowsRead } = await workOfStores(mode, { categoryId });
      t.ok(rowsRead < 4_000, `stores of ${categoryId}: ${rowsRead} rows`);
    }
  });

  t.test(`a region is found whether it has many stores or few (${mode} plan)`, async (t) => {
    for (const region of ['큰 구', '드문구', '없는구']) {
      for (const [kind, found] of [
        ['posts', await listPosts(mode, { region })],
        ['searched posts', await listPosts(mode, { region, q: '희귀어' })],
        ['stores', await workOfStores(mode, { region })],
      ] as const) {
        const label = `${kind} of ${region}: ${found.rowsRead} rows, ${found.buffers} pages`;
        t.ok(found.rowsRead < 1_300 && found.buffers < 2_100, label);
        t.strictSame(tablesScanned(found), [], label);
        t.notOk(found.stopped, label);
        const looksUp = region !== '큰 구' && kind !== 'searched posts';
        t.equal(found.indexes.includes('stores_region_keys_idx'), looksUp, label);
      }
    }
  });

  t.test(`posts are found by a rare name or address of their store (${mode} plan)`, async (t) => {
    for (const q of ['희귀점', '없는 길']) {
      const found = await listPosts(mode, { q });
      t.ok(found.indexes.includes('stores_search_keys_idx'), q);
      t.ok(found.rowsRead < 1_300, `${q}: ${found.rowsRead} rows`);
      t.strictSame(tablesScanned(found), [], q);
      t.notOk(found.stopped, q);
    }
  });

  t.test(`a store's posts cost what they show (${mode} plan)`, async (t) => {
    const { storeId, ownerId, categoryId } = first;
    for (const filter of [{ storeId }, { ownerId }, { ownerId, storeId }, { storeId, categoryId }]) {
      const { rowsRead, scanned } = await listPosts(mode, filter);
      t.ok(rowsRead < 450, `${rowsRead} rows`);
      t.notOk(scanned.includes('posts'));
    }
    const { rowsRead } = await listPosts(mode, { storeId, categoryId: 12, q: '가나다라' });
    t.ok(rowsRead < 10, `a category that the store does not have: ${rowsRead} rows`);
  });
}

t.test('a scan stops where it has read enough text, and examines at least one row', async (t) => {
  const filter = { ...everything, q: '가나다라' };
  const { database } = explainingDatabase(answers, 'generic', { answering: true });
  // Stores that are in the sample, so that no part of the text is rare.
  await pool.query(`
    WITH added AS (
      INSERT INTO stores (id, name, description, created_at)
      SELECT 503 * (1000 + n), '오래된 가게', '가나다나다라', '2020-01-01' FROM generate_series(1, 10) n RETURNING id
    )
    INSERT INTO store_category_links (store_id, category_id, position) SELECT id, 12, 1 FROM added`);
  for (const [table, list, textOfSome] of [
    ['posts', (budgets: typeof scanBudgets) => createPostRepository(database, budgets).list(filter), 30_000],
    ['stores', (budgets: typeof scanBudgets) => listStores(database, filter, budgets), 1_800],
  ] as const) {
    const { rows } = await pool.query(`SELECT id FROM ${table} ORDER BY created_at DESC, id DESC LIMIT 200`);
    for (const [textBytes, fewest, most] of [
      [1, 1, 1],
      [textOfSome, 30, 100],
    ] as const) {
      const few = { rows: 500, textBytes };
      const { stoppedAt } = await list({ first: few, most: few });
      const examined = 1 + rows.findIndex(({ id }) => String(id) === stoppedAt?.id);
      t.ok(examined >= fewest && examined <= most, `${table}: ${examined} rows for ${textBytes} bytes`);
    }
  }
});

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
  const { storeId: sender, ownerId } = first;
  const { rows } = await pool.query('SELECT id FROM posts WHERE store_id <> $1 AND id % 3 = 0 LIMIT $2', [
    sender,
    4 * modes.length,
  ]);
  const post = { title: '글', content: '내용', images: ['https://example.com/1.jpg'] };
  for (const [index, mode] of modes.entries()) {
    const writing = explainingDatabase(answers, mode, { answering: true });
    const posts = createPostRepository(writing.database);
    const { seconds = 0 } = await posts.create(writing.database, { userId: ownerId, quota: 30, ...post });
    t.ok(seconds > 0, 'the quota is used up');
    const { database, executions } = explainingDatabase(answers, mode);
    for (const { id: postId } of rows.slice(4 * index, 4 * index + 4)) {
      const request = { userId: ownerId, postId, message: '함께', quota: 300, key: undefined };
      // Without its row it throws.
      await createPartnerRequestChanges(database, mailQueue)
        .send(request)
        .catch(() => undefined);
    }
    const [, counted] = writing.executions;
    t.strictSame(
      [writing.executions.length, executions.length],
      [2, 4],
      'the lock of the store, and one each',
    );
    // The first one of a connection reads the catalog, too, and so does one after a change of statistics.
    const pages = Math.min(...executions.map(({ buffers }) => buffers));
    t.ok(counted?.indexes.includes('posts_invisible_idx'), `${mode} plan`);
    t.ok((counted?.rowsRead ?? 0) < 40, `${mode} plan: ${counted?.rowsRead} rows`);
    // Of all that the function does, the quotas, which read 100 requests of the store, included.
    t.ok(pages > 0 && pages < 150, `${mode} plan: ${pages} pages`);
  }
});

t.test('where most posts are closed, a page reads few of them', async (t) => {
  await pool.query('UPDATE posts SET closed_at = now() WHERE id % 20 <> 0');
  await pool.query('VACUUM ANALYZE posts');
  const { storeId, ownerId } = first;
  for (const mode of modes) {
    for (const filter of [
      ...[{}, { q: '카페' }, { storeId }, { ownerId }, { storeId, q: '카페' }],
      ...[{ status: 'closed' as const }, { status: 'all' as const, storeId }],
    ]) {
      const found = await listPosts(mode, filter);
      const label = `${mode} plan, ${JSON.stringify(filter)}`;
      t.ok(found.rowsRead < 450, `${label}: ${found.rowsRead} rows`);
      t.ok(found.sorted <= 21, `${label}: ${found.sorted} rows sorted`);
      t.strictSame(tablesScanned(found), [], label);
    }
    for (const filter of [
      { q: '희귀어' },
      { q: '가나다라' },
      { categoryId: 11 },
      { categoryId: 11, q: '가나다라' },
    ]) {
      const { rowsRead, buffers } = await listPosts(mode, filter);
      t.ok(rowsRead < 6_500, `${mode} plan, ${JSON.stringify(filter)}: ${rowsRead} rows, ${buffers} pages`);
    }
  }
});
