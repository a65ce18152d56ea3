import t from 'tap';
import { createTestApp, createUser, readPages } from '../support/app.ts';
import { createPost, createStore, idsIn, openShop, type Shop, type TestStore } from '../support/stores.ts';

const path = '/api/v1/stores/';

const app = await createTestApp();

/** Stores of these names, the first one the oldest, in a directory that has no others. */
async function createDirectory(stores: [name: string, ...categories: number[]][]) {
  await app.pool.query('UPDATE stores SET hidden_at = now() WHERE hidden_at IS NULL');
  const shops: Shop[] = [];
  for (const [name, ...category_ids] of stores) shops.push(await openShop(app, name, { category_ids }));
  const token = shops[0]?.token ?? '';
  const list = (query = '') => app.call('GET', `${path}${query}`, { token });
  const names = async (query = ''): Promise<string[]> =>
    (await list(query)).body.data.items.map(({ name }: TestStore) => name);
  return { stores: shops.map(({ store }) => store), token, list, names };
}

const text = (q: string) => `?q=${encodeURIComponent(q)}`;

const neutral = (categoryId: number) => new RegExp(`/media/categories/${categoryId}\\.webp$`);

t.test('the thumbnail is that of the newest post that was not deleted', async (t) => {
  const { token, list } = await createDirectory([['두레 카페', 2, 1]]);
  const thumbnail = async () => (await list()).body.data.items[0].thumbnail;
  await createPost(app, token, { images: ['https://cdn.example.com/old.jpg'] });
  const images = ['https://cdn.example.com/new.jpg', 'https://cdn.example.com/second.jpg'];
  const newest = await createPost(app, token, { images });
  t.equal(await thumbnail(), 'https://cdn.example.com/new.jpg');
  const { rows } = await app.pool.query(
    `INSERT INTO posts (store_id, title, content, images, created_at)
     VALUES ($1, '업로드', '사진', '{ab/0123456789abcdef0123456789abcd}', now() + interval '1 minute') RETURNING id`,
    [newest.store.id],
  );
  t.match(await thumbnail(), /\/ab\/0123456789abcdef0123456789abcd-480\.webp$/, 'an uploaded image');
  // As a post without images, or one whose images were taken away.
  await app.pool.query(`UPDATE posts SET images = '{}' WHERE id = $1`, [rows[0].id]);
  t.match(await thumbnail(), neutral(2), 'without images: the first category');
  await app.call('DELETE', `/api/v1/posts/${rows[0].id}/`, { token });
  t.equal(await thumbnail(), 'https://cdn.example.com/new.jpg', 'deleted');
  await app.call('PATCH', `/api/v1/posts/${newest.id}/`, { token, body: { images: images.slice(1) } });
  t.equal(await thumbnail(), 'https://cdn.example.com/second.jpg', 'changed');
});

t.test('words are found in name, address or description, whatever the spaces', async (t) => {
  const { names, token } = await createDirectory([
    ['두레 카페', 1],
    ['Café\u3000Été', 1],
    ['느티나무책방', 17],
  ]);
  const describe = (fields: Record<string, string>) =>
    app.call('PATCH', `${path}me/`, { token, body: fields });
  await describe({
    address: '서울특별시 마포구 와우산로 12길 3',
    description: '망원 동의\n꽃집과\u2003함께\u00a0합니다.\u3000Open DAILY',
  });
  const cases = {
    '두레 카페': [
      ...['두레카페', '두 레 카 페', '마포구 와우산로12길', '와우산로 12 길3', '망원동의 꽃집'],
      ...['꽃집과\u3000함께', '함께합니다.opendaily', '길'],
    ],
    'Café\u3000Été': ['café été', 'CAFÉÉTÉ'],
    느티나무책방: ['느티나무 책방'],
    '': ['카페서울', '카페 서울', '길 3 망원', '길3망원', '페서', '동의과'],
  };
  for (const [found, texts] of Object.entries(cases))
    for (const q of texts) t.strictSame((await names(text(q))).join(), found, q);
  t.equal((await names(text(' \u3000\u00a0 '))).length, 3, 'only spaces: all');
  await describe({ address: '전주', description: '옮겼습니다' });
  t.strictSame(await names(text('와우산로')), []);
  t.strictSame(await names(text('꽃집과')), []);
  t.strictSame(await names(text('옮겼')), ['두레 카페']);
  await describe({ name: '새 이름' });
  t.strictSame(await names(text('두레')), []);
  t.strictSame(await names(text('새이')), ['새 이름']);
  t.strictSame(await names(text('전주')), ['새 이름']);
});

t.test('categories filter the list, alone and with words', async (t) => {
  const { names } = await createDirectory([
    ['두레 카페', 1],
    ['Café Été', 1, 3],
    ['동네 빵집', 3],
    ['빵', 3, 1],
  ]);
  t.strictSame(await names('?category_id=3'), ['빵', '동네 빵집', 'Café Été']);
  t.strictSame(await names('?category_id=1&q=%EB%B9%B5'), ['빵']);
  t.strictSame(await names('?category_id=11'), []);
});

t.test('pages list every store once while stores are added and closed', async (t) => {
  const { stores, list } = await createDirectory(
    Array.from({ length: 12 }, (_, index): [string, number] => [`가게 ${index}`, 1 + (index % 2)]),
  );
  // Several of one time, so that the id has to decide.
  const some = stores.slice(2, 8).map(({ id }) => id);
  await app.pool.query("UPDATE stores SET created_at = '2026-01-01T00:00:00Z' WHERE id = ANY ($1)", [some]);
  for (const filter of ['', '&category_id=1', text('가게').replace('?', '&'), '&q=%EA%B0%80']) {
    const all = idsIn(await list(`?limit=100${filter}`));
    const pages = await readPages((cursor) => list(`?limit=3${filter}${cursor}`));
    t.strictSame(pages.flat(), all, filter);
    t.equal(pages.length, Math.ceil(all.length / 3));
  }

  for (const [filter, change] of [
    ['', 'closed_at = now()'],
    [text('가게').replace('?', '&'), `name = '다른 이름'`],
  ] as const) {
    const first = await list(`?limit=4${filter}`);
    const [next, gone, ...others] = idsIn(await list(`?limit=100${filter}`)).slice(4);
    await createStore(app, (await createUser(app)).token, { name: '새 가게' });
    await app.pool.query(`UPDATE stores SET ${change} WHERE id = ANY ($1)`, [[idsIn(first)[3], gone]]);
    const rest = await list(`?limit=100&cursor=${first.body.data.next_cursor}${filter}`);
    t.strictSame(idsIn(rest), [next, ...others]);
    t.equal(rest.body.data.next_cursor, null);
  }
});
