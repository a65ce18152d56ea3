import t from 'tap';
import { createTestApp, createUser } from '../support/app.ts';
import { createStore } from '../support/stores.ts';

const app = await createTestApp();
t.teardown(app.close);
const { call } = app;
const path = '/api/v1/stores/';
const notFound = { ko: '가게를 찾을 수 없습니다.', en: 'The store was not found.' };

t.test('registering a store answers 201 with exactly the fields of a Store', async (t) => {
  const { token } = await createUser(app);
  const body = {
    name: '  두레 카페 ',
    category_ids: [3, 1],
    description: '첫 줄\r\n둘째 줄',
    address: '서울특별시 마포구 와우산로 1',
    phone_number: '02-123-4567',
    business_hours: '매일 09:00-21:00',
  };
  const answer = await call('POST', path, { token, body });
  t.equal(answer.status, 201);
  t.equal(answer.body.success, true);
  t.equal(answer.body.message, '가게를 등록했습니다.');
  const { id, created_at, updated_at, ...data } = answer.body.data;
  t.strictSame(data, {
    name: '두레 카페',
    store_categories: [
      { id: 3, name: '베이커리' },
      { id: 1, name: '카페' },
    ],
    description: '첫 줄\n둘째 줄',
    address: '서울특별시 마포구 와우산로 1',
    phone_number: '02-123-4567',
    business_hours: '매일 09:00-21:00',
  });
  t.type(id, 'number');
  t.match(created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  t.match(updated_at, /Z$/);
  t.strictSame((await call('GET', `${path}me/`, { token })).body.data, answer.body.data);
  t.strictSame((await call('GET', `${path}${id}/`, { token })).body.data, answer.body.data);
});

t.test('a field that was never given is an empty string', async (t) => {
  const { token } = await createUser(app);
  const store = await createStore(app, token);
  t.match(store, { description: '', address: '', phone_number: '', business_hours: '' });
});

t.test('text is brought into NFC', async (t) => {
  const { token } = await createUser(app);
  const store = await createStore(app, token, { name: '카페'.normalize('NFD') });
  t.equal(store.name, '카페');
});

t.test('a user has one store', async (t) => {
  const { token } = await createUser(app);
  const store = await createStore(app, token);
  const second = await call('POST', path, { token, body: { name: '둘째', category_ids: [2] } });
  t.equal(second.status, 409);
  t.equal(second.body.data.code, 'store_exists');
  t.equal(second.body.message, second.body.data.detail);
  t.strictSame((await call('GET', `${path}me/`, { token })).body.data, store);
});

t.test('validation comes before the store that exists', async (t) => {
  const { token } = await createUser(app);
  await createStore(app, token);
  const answer = await call('POST', path, { token, body: { name: '둘째', category_ids: [999] } });
  t.equal(answer.body.data.code, 'validation_error');
});

t.test('without a store, own store is 404 in the language of the caller', async (t) => {
  const { token } = await createUser(app);
  for (const [method, body] of [['GET'], ['PATCH', { name: '새 이름' }]] as const) {
    const korean = await call(method, `${path}me/`, { token, body });
    t.equal(korean.status, 404);
    t.strictSame(korean.body, {
      success: false,
      message: notFound.ko,
      data: { detail: notFound.ko, code: 'store_not_found' },
    });
    const headers = { 'accept-language': 'en' };
    t.equal((await call(method, `${path}me/`, { token, body, headers })).body.message, notFound.en);
  }
});

t.test('PATCH changes what is given and nothing else', async (t) => {
  const { token } = await createUser(app);
  const store = await createStore(app, token, { address: '옛 주소', phone_number: '1588-1234' });
  const patch = (body: unknown) => call('PATCH', `${path}me/`, { token, body });

  const renamed = await patch({ name: '새 이름', phone_number: '' });
  t.equal(renamed.status, 200);
  const { updated_at, ...rest } = renamed.body.data;
  const { updated_at: before, ...expected } = { ...store, name: '새 이름', phone_number: '' };
  t.strictSame(rest, expected);
  t.ok(updated_at >= before);

  const categories = await patch({ category_ids: [5, 4] });
  t.strictSame(categories.body.data.store_categories, [
    { id: 5, name: '식료품' },
    { id: 4, name: '주점' },
  ]);
  t.equal(categories.body.data.name, '새 이름');

  const everything = {
    name: '다',
    description: '설명',
    address: '주소',
    phone_number: '010-1234-5678',
    business_hours: '24시간',
  };
  const all = await patch({ ...everything, category_ids: [12] });
  t.match(all.body.data, { ...everything, store_categories: [{ id: 12, name: '기타' }] });
  t.strictSame((await call('GET', `${path}me/`, { token })).body.data, all.body.data);
});

t.test('PATCH that is refused changes nothing', async (t) => {
  const { token } = await createUser(app);
  const store = await createStore(app, token);
  const answer = await call('PATCH', `${path}me/`, {
    token,
    body: { name: '새 이름', category_ids: [2, 99] },
  });
  t.equal(answer.status, 400);
  t.strictSame(Object.keys(answer.body.data.fields), ['/category_ids/1']);
  t.strictSame((await call('GET', `${path}me/`, { token })).body.data, store);
});

t.test('everything but the categories needs a login', async (t) => {
  const operations = [
    ['POST', path],
    ['GET', path],
    ['GET', `${path}me/`],
    ['PATCH', `${path}me/`],
    ['GET', `${path}mypage/`],
    ['GET', `${path}1/`],
  ] as const;
  for (const [method, url] of operations) {
    const answer = await call(method, url, method === 'GET' ? {} : { body: {} });
    t.equal(answer.status, 401, `${method} ${url}`);
    t.equal(answer.body.data.code, 'not_authenticated');
  }
});

t.test('the categories are the shipped ones, in their order', async (t) => {
  const answer = await call('GET', `${path}categories/`);
  t.equal(answer.status, 200);
  const names = ['카페', '음식점', '베이커리', '주점', '식료품', '의류·잡화'].concat([
    '미용',
    '건강·운동',
    '교육',
    '문화·여가',
    '숙박',
    '기타',
  ]);
  t.strictSame(answer.body.data, { items: names.map((name, index) => ({ id: index + 1, name })) });
});

t.test('a path id that no store has, or no store can have, is store_not_found', async (t) => {
  const { token } = await createUser(app);
  const ids = [
    '999999',
    '0',
    '-1',
    '1.5',
    'abc',
    '01',
    '2147483648',
    '9'.repeat(40),
    '%EA%B0%80',
    '1e3',
    ' 1',
  ];
  for (const id of ids) {
    const answer = await call('GET', `${path}${encodeURI(id).replaceAll('%25', '%')}/`, { token });
    t.equal(answer.status, 404, id);
    t.equal(answer.body.data.code, 'store_not_found', id);
  }
});
