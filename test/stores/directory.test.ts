import t from 'tap';
import { createTestApp, createUser } from '../support/app.ts';
import { refused } from '../support/assertions.ts';
import { createStore, openShop, type Shop, type TestStore } from '../support/stores.ts';

const path = '/api/v1/stores/';

const app = await createTestApp();
t.teardown(app.close);

/** Stores of these names, the first one the oldest, in a directory that has no others. */
async function createDirectory(stores: [name: string, ...categories: number[]][]) {
  await app.pool.query('UPDATE stores SET closed_at = now() WHERE closed_at IS NULL');
  const shops: Shop[] = [];
  for (const [name, ...category_ids] of stores) shops.push(await openShop(app, name, { category_ids }));
  const token = shops[0]?.token ?? '';
  const list = (query = '') => app.call('GET', `${path}${query}`, { token });
  const names = async (query = ''): Promise<string[]> =>
    (await list(query)).body.data.items.map(({ name }: TestStore) => name);
  return {
    stores: shops.map(({ store }) => store),
    token,
    tokens: shops.map((shop) => shop.token),
    list,
    names,
  };
}

async function close(id: number | undefined): Promise<void> {
  await app.pool.query(
    `UPDATE stores SET closed_at = now(), description = '', address = '', phone_number = '', business_hours = ''
     WHERE id = $1`,
    [id],
  );
}

const text = (q: string) => `?q=${encodeURIComponent(q)}`;

t.test('the list has store summaries, newest first', async (t) => {
  const { stores, list } = await createDirectory([
    ['하나', 1],
    ['둘', 3, 2],
    ['셋', 12],
  ]);
  const answer = await list();
  t.equal(answer.status, 200);
  t.strictSame(answer.body.data, {
    items: stores.map(({ id, name, store_categories }) => ({ id, name, store_categories })).reverse(),
    next_cursor: null,
  });
});

t.test('names and categories filter the list, alone and together', async (t) => {
  const { list, names } = await createDirectory([
    ['두레 카페', 1],
    ['Café Été', 1, 3],
    ['동네 빵집', 3],
    ['100% 우유_가게', 5],
    ['100원 우유 가게', 5],
    ['빵', 3, 1],
    ['ΟΔΟΣ Книги', 12],
  ]);
  t.strictSame(await names(text('카페')), ['두레 카페']);
  t.strictSame(await names(text('카페'.normalize('NFD'))), ['두레 카페'], 'NFD');
  t.strictSame(await names(text('레 카')), ['두레 카페'], 'across a space');
  t.strictSame(await names(text('CAFÉ é')), ['Café Été'], 'any case, beyond ASCII');
  t.strictSame(await names(text('книги')), ['ΟΔΟΣ Книги']);
  t.strictSame(await names(text('οδος')), ['ΟΔΟΣ Книги'], 'both small sigmas');
  t.strictSame(await names(text('οδοσ')), ['ΟΔΟΣ Книги'], 'both small sigmas');
  t.strictSame(await names(text('빵')), ['빵', '동네 빵집'], 'one character');
  t.strictSame(await names(text('%')), ['100% 우유_가게'], 'no wildcard');
  t.strictSame(await names(text('_')), ['100% 우유_가게'], 'no wildcard');
  t.strictSame(await names(text('100%우')), [], 'no wildcard');
  t.strictSame(await names(text('\\')), [], 'no escape');
  t.strictSame(await names(text("'; DROP TABLE stores; --")), []);
  t.strictSame(await names(text('카두')), [], 'order counts');
  t.strictSame(await names(text('페두')), [], 'neighbours count');
  t.strictSame((await names(text(''))).length, 7, 'empty');
  t.strictSame((await names(text('  '))).length, 7, 'blank');
  t.strictSame(await names(text('  카페 ')), ['두레 카페'], 'trimmed');
  t.strictSame(await names('?category_id=3'), ['빵', '동네 빵집', 'Café Été']);
  t.strictSame(await names('?category_id=1&q=%EB%B9%B5'), ['빵']);
  t.strictSame(await names('?category_id=11'), []);
  t.equal((await list(text('가'.repeat(50)))).status, 200);
});

t.test('pages list every store once while stores are added and closed', async (t) => {
  const { stores, list } = await createDirectory(
    Array.from({ length: 12 }, (_, index): [string, number] => [`가게 ${index}`, 1 + (index % 2)]),
  );
  // Several of one time, so that the id has to decide.
  await app.pool.query('UPDATE stores SET created_at = $1 WHERE id = ANY ($2)', [
    '2026-01-01T00:00:00Z',
    stores.slice(2, 8).map(({ id }) => id),
  ]);
  for (const filter of ['', '&category_id=1', text('가게').replace('?', '&'), '&q=%EA%B0%80']) {
    const all = (await list(`?limit=100${filter}`)).body.data.items.map(({ id }: TestStore) => id);
    const seen: number[] = [];
    let cursor: string | null = null;
    let pages = 0;
    do {
      const page = await list(`?limit=3${filter}${cursor === null ? '' : `&cursor=${cursor}`}`);
      seen.push(...page.body.data.items.map(({ id }: TestStore) => id));
      cursor = page.body.data.next_cursor;
      pages += 1;
    } while (cursor !== null);
    t.strictSame(seen, all, filter);
    t.equal(pages, Math.ceil(all.length / 3));
  }

  const first = (await list('?limit=4')).body.data;
  const expected = (await list('?limit=100')).body.data.items.slice(4).map(({ id }: TestStore) => id);
  const { token } = await createUser(app);
  await createStore(app, token, { name: '새 가게' });
  await close(first.items[3].id);
  await close(expected[1]);
  const rest = (await list(`?limit=100&cursor=${first.next_cursor}`)).body.data;
  t.strictSame(
    rest.items.map(({ id }: TestStore) => id),
    expected.filter((_: number, index: number) => index !== 1),
  );
  t.equal(rest.next_cursor, null);
});

t.test('a closed store is not found', async (t) => {
  const { stores, token, tokens, names } = await createDirectory([
    ['남은 카페', 1],
    ['닫은 카페', 1],
  ]);
  await close(stores[1]?.id);
  t.strictSame(await names(), ['남은 카페']);
  t.strictSame(await names('?category_id=1'), ['남은 카페']);
  t.strictSame(await names(text('카페')), ['남은 카페']);
  refused(t, await app.call('GET', `${path}${stores[1]?.id}/`, { token }), 404, 'store_not_found');
  const owner = { token: tokens[1] };
  refused(t, await app.call('GET', `${path}me/`, owner), 404, 'store_not_found');
  refused(
    t,
    await app.call('PATCH', `${path}me/`, { ...owner, body: { name: '다시' } }),
    404,
    'store_not_found',
  );
  const page = await app.call('GET', `${path}mypage/`, owner);
  t.strictSame(page.body.data, { store: null, posts: [], sent_requests: [] });
});
