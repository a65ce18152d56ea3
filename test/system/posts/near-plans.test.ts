import t from 'tap';
import { createPostRepository } from '../../../src/domains/posts/repository.ts';
import { listStores } from '../../../src/domains/stores/repository.ts';
import type { Tx } from '../../../src/infrastructure/database/client.ts';
import type { BoundedPage, KeysetPosition } from '../../../src/infrastructure/database/keyset.ts';
import { scanBudgets } from '../../../src/infrastructure/search/sources.ts';
import { createTestApp } from '../../support/app.ts';
import { openTestDatabase } from '../../support/database.ts';
import { explainingDatabase } from '../../support/plans.ts';

const { pool, url } = await createTestApp({}, { isolated: true });
const answers = openTestDatabase(t, url);

const stores = 12_000;
const modes = ['generic', 'custom'] as const;

// Creating the search indexes afterwards takes a fraction of the time.
const { rows: searchIndexes } = await pool.query<{ indexname: string; indexdef: string }>(
  `SELECT indexname, indexdef FROM pg_indexes WHERE indexname ~ '^(posts|stores)_search'`,
);
for (const { indexname } of searchIndexes) await pool.query(`DROP INDEX ${indexname}`);

// Store n is the nth nearest of a place, evenly within 12 km, with two posts. One in three is a 카페, six have 희귀어, eight are of
// category 11; all have every part of 가나다라 but not the whole.
await pool.query(`
  BEGIN;
  INSERT INTO stores (id, name, description, latitude, longitude, show_exact_location)
    SELECT n, CASE WHEN n % 3 = 0 THEN '동네 카페' WHEN n % 2000 = 1999 THEN '희귀어' ELSE '가게' END || n, '가나 다나 다라',
      37.55 + away * sin(n * 2.4) / 111.195, 126.98 + away * cos(n * 2.4) / 111.195 / cos(radians(37.55)), true
    FROM generate_series(1, ${stores}) n, LATERAL (SELECT 12 * sqrt(n / ${stores}.0) AS away) a;
  INSERT INTO store_category_links (store_id, category_id, position)
    SELECT n, CASE WHEN n % 1500 = 1499 THEN 11 ELSE 1 + n % 10 END, 1 FROM generate_series(1, ${stores}) n;
  INSERT INTO posts (store_id, title, content, images, created_at)
    SELECT s.id, s.name, s.description, '{}', timestamptz '2026-01-01' + (s.id * 7919 % 24000) * interval '1 minute'
    FROM stores s, generate_series(1, 2) ORDER BY s.id;
  COMMIT`);
for (const { indexdef } of searchIndexes) await pool.query(indexdef);
await pool.query('VACUUM ANALYZE');

interface Filter {
  q?: string;
  categoryId?: number;
  after?: KeysetPosition;
}

type Row = { id: number; distance: number | null };
type Find = (filter: Filter, limit?: number) => Promise<BoundedPage<Row>>;

/** The two lists around the place. */
function listsOf(database: Tx, budgets = scanBudgets): Record<'stores' | 'posts', Find> {
  const near = { latitude: 37.55, longitude: 126.98, radius: 50_000 };
  const all = { userId: 0, ownerId: undefined, storeId: undefined, categoryId: undefined, region: '', q: '' };
  const around = { ...all, status: 'open', after: undefined, near } as const;
  return {
    stores: (filter, limit = 21) => listStores(database, { ...around, ...filter, limit }, budgets),
    posts: (filter, limit = 21) =>
      createPostRepository(database, budgets).list({ ...around, ...filter, limit }),
  };
}

/** The ids of all pages. */
async function walk(find: Find, filter: Filter): Promise<number[]> {
  const ids: number[] = [];
  for (let after: KeysetPosition | undefined; ; ) {
    const { rows, stoppedAt } = await find({ ...filter, ...(after && { after }) }, 10);
    ids.push(...rows.map(({ id }) => id));
    const last = rows.length === 10 ? rows.at(-1) : undefined;
    after = last ? { time: last.distance ?? 0, id: String(last.id) } : stoppedAt;
    if (after === undefined) return ids;
  }
}

for (const mode of modes) {
  for (const name of ['stores', 'posts'] as const) {
    t.test(`${name} around a place are read as far as needed (${mode} plan)`, async (t) => {
      const work = async (filter: Filter) => {
        const { database, executions } = explainingDatabase(answers, mode, { answering: true });
        await listsOf(database)[name](filter);
        const sum = (of: 'rowsRead' | 'buffers') => executions.reduce((total, one) => total + one[of], 0);
        const indexes = executions.flatMap((one) => one.indexes);
        const scanned = executions.flatMap((one) => one.scanned);
        t.strictSame(scanned, [], JSON.stringify(filter));
        return { rowsRead: sum('rowsRead'), buffers: sum('buffers'), indexes, statements: executions.length };
      };
      const first = await work({});
      t.ok(first.indexes.includes('stores_place_idx'));
      t.equal(first.statements, 1);
      t.ok(first.rowsRead < 1_000 && first.buffers < 800, `first page: ${JSON.stringify(first)}`);
      const deep = await work({ after: { time: 7_000_000, id: '1' } });
      t.ok(deep.rowsRead < 6_000 && deep.buffers < 1_000, `deep page: ${JSON.stringify(deep)}`);
      for (const filter of [{ q: '카페' }, { categoryId: 4 }]) {
        const frequent = await work(filter);
        t.ok(frequent.statements === 1 && frequent.rowsRead < 2_000, `frequent: ${JSON.stringify(frequent)}`);
      }
      for (const filter of [{ q: '희귀어' }, { q: '없는말' }, { categoryId: 11 }]) {
        const rare = await work(filter);
        t.ok(rare.statements === 2 && rare.rowsRead < 4_000, `rare: ${JSON.stringify({ filter, ...rare })}`);
      }
      const none = await work({ q: '가나다라' });
      t.ok(none.rowsRead < 13_000, `none: ${JSON.stringify(none)}`);
    });
  }
}

t.test('a list ends after the nearest stores, unless few match', async (t) => {
  const { database } = explainingDatabase(answers, 'generic', { answering: true });
  const few = { first: { rows: 20, textBytes: 1e6 }, most: { rows: 60, textBytes: 1e6 } };
  const lists = listsOf(database, few);
  const nearest = Array.from({ length: 60 }, (_, n) => n + 1);
  t.strictSame(await walk(lists.stores, {}), nearest);
  t.strictSame(
    await walk(lists.stores, { q: '카페' }),
    nearest.filter((id) => id % 3 === 0),
  );
  const rare = Array.from({ length: 8 }, (_, n) => 1_500 * n + 1_499);
  t.strictSame(await walk(lists.stores, { categoryId: 11 }), rare);
  t.strictSame(await walk(lists.stores, { categoryId: 11, q: '희귀어' }), [5_999, 11_999]);
  const storeOf = (post: number) => Math.ceil(post / 2);
  const posts = await walk(lists.posts, {});
  t.strictSame(
    posts.map(storeOf),
    nearest.flatMap((id) => [id, id]),
  );
  t.equal(new Set(posts).size, 120);
  t.strictSame(
    (await walk(lists.posts, { categoryId: 11 })).map(storeOf),
    rare.flatMap((id) => [id, id]),
  );
});

t.test('a page ends where it has read enough text, and the next one continues', async (t) => {
  const { database } = explainingDatabase(answers, 'generic', { answering: true });
  const few = { first: { rows: 20, textBytes: 100 }, most: { rows: 60, textBytes: 300 } };
  for (const find of Object.values(listsOf(database, few))) {
    const { rows, stoppedAt } = await find({ q: '가나다라' });
    t.strictSame(rows, []);
    t.ok(stoppedAt);
    t.strictSame(await walk(find, { q: '가나다라' }), []);
  }
});
