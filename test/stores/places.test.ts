import t from 'tap';
import { list } from '../../src/domains/posts/repository.ts';
import { scanBudgets } from '../../src/infrastructure/search/sources.ts';
import { createTestApp, createUser } from '../support/app.ts';
import { openTestDatabase } from '../support/database.ts';
import { createPost, idsIn, openShop, type TestPost, type TestStore } from '../support/stores.ts';

const app = await createTestApp();
const { call } = app;
const path = '/api/v1/stores/';
const location = { latitude: 37.5561234, longitude: 126.9104567 };
const exact = { latitude: 37.556123, longitude: 126.910457 };
const rounded = { latitude: 37.556, longitude: 126.91 };

t.test('the region of a store is read from its address, and again from a new one', async (t) => {
  const { token, store } = await openShop(app, '두레', { address: '서울 마포구 월드컵로 123 (망원동)' });
  t.strictSame(store.region, { sido: '서울', sigungu: '마포구', dong: '망원동' });
  const patch = async (body: unknown) =>
    (await call('PATCH', `${path}me/`, { token, body })).body.data.region;
  t.strictSame(await patch({ name: '새 이름' }), store.region, 'the same address');
  const region = { sido: '경기', sigungu: '성남시 분당구', dong: '판교동' };
  t.strictSame(await patch({ address: '성남시 분당구 판교동' }), region);
  t.strictSame(await patch({ address: '' }), { sido: '', sigungu: '', dong: '' });
});

t.test('the owner sees the exact location, others a rounded one unless the store shows it', async (t) => {
  const { token, store } = await openShop(app, '두레', { location });
  const other = await createUser(app);
  const seenBy = async (user: { token: string }) =>
    (await call('GET', `${path}${store.id}/`, user)).body.data.location;
  const patch = async (body: unknown) => (await call('PATCH', `${path}me/`, { token, body })).body.data;
  t.strictSame(store.location, exact, 'six decimals');
  t.strictSame((await call('GET', `${path}me/`, { token })).body.data.location, exact);
  t.strictSame(await seenBy({ token }), exact);
  t.strictSame(await seenBy(other), rounded);
  t.match(await patch({ show_exact_location: true }), { location: exact, show_exact_location: true });
  t.strictSame(await seenBy(other), exact);
  t.match(await patch({ show_exact_location: false, name: '새 이름' }), { location: exact });
  t.strictSame(await seenBy(other), rounded);
  t.equal((await patch({ location: null })).location, null);
  t.equal(await seenBy(other), null);
  const south = { latitude: -90, longitude: -180 };
  t.strictSame((await patch({ location: south })).location, south);
});

t.test('stores and their posts are found by the words of a region, as people type them', async (t) => {
  const { token } = await openShop(app, '느티나무', { address: '경기 성남시 분당구 느티1동 1' });
  await createPost(app, token, { title: '느티나무 글' });
  const other = await openShop(app, '이웃', { address: '경기 성남시 수정구 느티2동' });
  await createPost(app, other.token, { title: '이웃 글' });
  const find = async (list: string, region: string, rest = '') => {
    const query = `?region=${encodeURIComponent(region)}${rest}`;
    return (await call('GET', `/api/v1/${list}/${query}`, { token })).body.data;
  };
  const names = async (region: string) =>
    (await find('stores', region)).items.map(({ name }: TestStore) => name);
  const titles = async (region: string) =>
    (await find('posts', region)).items.map(({ title }: TestPost) => title);
  const ofBoth = ['경기 성남', '경기도 성남시', '느티동', '느티', '성남 시 느티동'];
  for (const region of ofBoth) t.strictSame(await names(region), ['이웃', '느티나무'], region);
  const parts = ['성남시 분당구', '성남시분당구', ' 분 당 구 ', '분당구', '느티1동', '성남 시 분당 구'];
  for (const region of [...parts, '분당', '경기도 성남 분당', '느티1동, 분당구', '분당\u3000느티']) {
    t.strictSame(await names(region), ['느티나무'], region);
    t.strictSame(await titles(region), ['느티나무 글'], region);
  }
  for (const region of ['남시', '티1동', '서울 분당', '없는동', '수정구 분당구', '분당 시', '구']) {
    t.strictSame(await find('stores', region), { items: [], next_cursor: null }, region);
    t.strictSame(await find('posts', region), { items: [], next_cursor: null }, region);
  }
  t.strictSame((await find('posts', '분당구', '&mine=true')).items.length, 1);
  t.strictSame((await find('posts', '수정구', '&mine=true')).items, []);
  t.strictSame((await find('posts', '분당구', '&category_id=2')).items, []);
  t.strictSame((await find('stores', '분당구', `&q=${encodeURIComponent('이웃')}`)).items, []);
  await call('PATCH', `${path}me/`, { token, body: { address: '경기 성남시 분당구 느티3동 1' } });
  t.strictSame(await names('느티1동'), [], 'after it moved');
  t.strictSame(await names('느티3동'), ['느티나무']);
});

t.test('posts are found by name and address of their store, not by its description', async (t) => {
  const { token } = await openShop(app, '하늘 다람쥐', {
    address: '솔밭길 77-3',
    description: '호젓한 골목',
  });
  const posts = [await createPost(app, token), await createPost(app, token)];
  const find = async (q: string, rest = '') =>
    idsIn(await call('GET', `/api/v1/posts/?q=${encodeURIComponent(q)}${rest}`, { token }));
  const both = posts.map(({ id }) => id).reverse();
  for (const q of ['하늘다람쥐', '다람 쥐', '솔밭길 77', '솔밭길77-3']) {
    t.strictSame(await find(q), both, q);
    t.strictSame(await find(q, '&mine=true'), both, q);
  }
  for (const q of ['호젓한', '다람쥐솔', '3호젓']) t.strictSame(await find(q), [], q);
  await call('PATCH', `${path}me/`, { token, body: { name: '새 이름', address: '' } });
  t.strictSame(await find('다람쥐'), []);
});

t.test('what a scan does not reach is looked up, each post once', async (t) => {
  const { id, token, store } = await openShop(app, '두루미 상회', { address: '서울 강동구 두루미동 1' });
  const posts = [await createPost(app, token, { title: '두루미 상회' }), await createPost(app, token)];
  await createPost(app, (await openShop(app)).token);
  const database = openTestDatabase(t, app.url, 1);
  const first = { rows: 1, textBytes: 1_000_000 };
  const all = { ownerId: undefined, storeId: undefined, categoryId: undefined, near: undefined };
  const page = { userId: id, after: undefined, limit: 10 };
  const filter = { ...all, ...page, q: '', region: '', status: 'open' } as const;
  for (const wanted of [{ q: '두루미상회' }, { region: '두루미동' }, { q: '두루미동 1', region: '강동구' }]) {
    const { rows, stoppedAt } = await list(database, { ...filter, ...wanted }, { ...scanBudgets, first });
    const label = JSON.stringify(wanted);
    const found = rows.map((row) => [row.id, row.store.id]);
    t.strictSame([found, stoppedAt], [posts.map((post) => [post.id, store.id]).reverse(), undefined], label);
  }
});
