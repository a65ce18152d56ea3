import t from 'tap';
import { createTestApp, createUser } from '../support/app.ts';
import { invalid, refused } from '../support/assertions.ts';
import { createStore, openShop } from '../support/stores.ts';

const app = await createTestApp();
t.teardown(app.close);
const { call } = app;
const path = '/api/v1/stores/';
const notFound = { ko: '가게를 찾을 수 없습니다.', en: 'The store was not found.' };

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

t.test('without a store, the own store is store_not_found', async (t) => {
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

t.test('a refused PATCH changes nothing', async (t) => {
  const { token } = await createUser(app);
  const store = await createStore(app, token);
  const answer = await call('PATCH', `${path}me/`, {
    token,
    body: { name: '새 이름', category_ids: [2, 99] },
  });
  t.equal(answer.status, 400);
  invalid(t, answer, '/category_ids/1');
  t.match(answer.body.data.errors, [{ code: 'not_found' }]);
  t.strictSame((await call('GET', `${path}me/`, { token })).body.data, store);
});

t.test('an unknown category is named by its place in the list', async (t) => {
  const { token } = await createUser(app);
  const owner = await openShop(app);
  for (const [category_ids, ...names] of [
    [[1, 999], '/category_ids/1'],
    [[998, 1, 999], '/category_ids/0', '/category_ids/2'],
  ] as const) {
    invalid(t, await call('POST', path, { token, body: { name: '두레 카페', category_ids } }), ...names);
    invalid(t, await call('PATCH', `${path}me/`, { token: owner.token, body: { category_ids } }), ...names);
  }
  refused(t, await call('GET', `${path}me/`, { token }), 404, 'store_not_found');
  invalid(t, await call('GET', `${path}?category_id=999`, { token }), 'category_id');
});

t.test('anything that is not a phone number is refused', async (t) => {
  const owner = await openShop(app);
  const numbers = [
    ...['1', '123', '123-4567', '1234567', '-', '02-', '-02-123-4567', '02--123-4567', '02-123-4567-'],
    ...[
      '+',
      '+82',
      '+82)',
      '02/123/4567',
      '02..123.4567',
      '02-123-4567 (내선 3)',
      'tel:02-123-4567',
      '02-12-4567',
      '02-123-45678',
      '02-123-456',
    ],
    ...[
      '00-123-4567',
      '0082-2-123-4567',
      '010-1234-567',
      '1234567890123456',
      '０２-123-4567',
      '전화',
      '02-123-4567\n1',
    ],
  ];
  for (const phone_number of numbers) {
    invalid(
      t,
      await call('PATCH', `${path}me/`, { token: owner.token, body: { phone_number } }),
      'phone_number',
    );
  }
});

t.test('after a refusal the key is free again', async (t) => {
  const { token } = await createUser(app);
  const headers = { 'idempotency-key': 'second-try' };
  const call1 = await call('POST', path, { token, headers, body: { name: '카페', category_ids: [99] } });
  invalid(t, call1, '/category_ids/0');
  const call2 = await call('POST', path, { token, headers, body: { name: '카페', category_ids: [1] } });
  t.equal(call2.status, 201);
});
