import t from 'tap';
import { createTestApp, createUser, type TestResponse } from '../support/app.ts';
import { invalid, rejected, tally } from '../support/assertions.ts';
import { inParallel } from '../support/concurrency.ts';
import { countRows } from '../support/rows.ts';
import { createStore, openShop } from '../support/stores.ts';

const app = await createTestApp();
const { call } = app;
const path = '/api/v1/stores/';

t.test('PATCH changes the given fields only', async (t) => {
  const { token } = await createUser(app);
  const name = '가게 없음';
  rejected(t, await call('PATCH', `${path}me/`, { token, body: { name } }), 404, 'store_not_found');
  const store = await createStore(app, token, { address: '옛 주소', phone_number: '1588-1234' });
  const changes = { name: '새 이름', phone_number: '', business_hours: '24시간' };
  const body = { ...changes, name: ' 새 이름 ', description: '첫 줄\r\n둘째 줄' };
  const { data } = (await call('PATCH', `${path}me/`, { token, body })).body;
  const description = '첫 줄\n둘째 줄';
  t.strictSame(data, { ...store, ...changes, description, updated_at: data.updated_at });
  t.ok(data.updated_at >= store.updated_at);
});

t.test('phone numbers of any country are taken as people type them, and kept with hyphens', async (t) => {
  const { token } = await openShop(app);
  const numbers = [
    ...['02-123-4567', '02-1234-5678', '031-123-4567', '010-1234-5678', '070-1234-5678', '0505-123-4567'],
    ...['0502-1234-5678', '080-123-4567', '1588-1234', '1899-0000', '821012345678901'],
    ...['1-212-555-0100', '44-20-7946-0958', '81-3-1234-5678', ''],
  ];
  const shapes = {
    '02-123-4567': ['02) 123-4567', '(02) 123 4567', '(02)123-4567', '021234567', '+82 (0)2 123 4567'],
    '02-1234-5678': ['0212345678', '02.1234.5678', '+82-2-1234-5678', '82 02 1234 5678', '82-(0)2-1234-5678'],
    '010-1234-5678': [
      ...['010 1234 5678', '010.1234.5678', '+82-10-1234-5678', '+821012345678', '01012345678'],
      ...[' 010 - 1234 - 5678 ', '010–1234–5678', '010-12345678', '010\u00a01234\u00a05678'],
      ...['82-10-1234-5678', '821012345678', '+82-(0)10-1234-5678', '+82(0)10 1234 5678', '010−1234−5678'],
      ...['\u202a010-1234-5678\u202c', '\u200e+82 10\u2060-1234-5678'],
      ...['０１０－１２３４－５６７８', '＋８２（０）１０．１２３４．５６７８'],
    ],
    '031-123-4567': ['031 123 4567', '0311234567'],
    '0507-1234-5678': ['0507 1234 5678', '050712345678', '+82 507 1234 5678'],
    '1588-1234': [' 1588-1234 ', '15881234', '1588 1234', '+82 1588 1234', '82-1588-1234'],
    '1-212-555-0100': ['+1 212 555 0100', '+1 (212) 555-0100'],
    '44-20-7946-0958': ['+44 20 7946 0958', '+44 (0)20 7946 0958'],
  };
  const cases = [...numbers.map((number) => [number, [number]] as const), ...Object.entries(shapes)];
  for (const [kept, typed] of cases) {
    for (const phone_number of typed) {
      const response = await call('PATCH', `${path}me/`, { token, body: { phone_number } });
      t.equal(response.body.data.phone_number, kept, phone_number);
    }
  }
});

t.test('an unknown category is named by its place in the list, and nothing is written', async (t) => {
  const { token } = await createUser(app);
  const owner = await openShop(app);
  for (const [category_ids, ...names] of [
    [[1, 999], '/category_ids/1'],
    [[998, 1, 999], '/category_ids/0', '/category_ids/2'],
  ] as const) {
    // Before the check for a store that exists.
    for (const caller of [token, owner.token])
      invalid(t, await call('POST', path, { token: caller, body: { name: '카페', category_ids } }), ...names);
    const body = { name: '새 이름', category_ids };
    const response = await call('PATCH', `${path}me/`, { token: owner.token, body });
    invalid(t, response, ...names);
    t.match(response.body.data.errors, [{ code: 'not_found' }]);
  }
  t.strictSame((await call('GET', `${path}me/`, owner)).body.data, owner.store);
  rejected(t, await call('GET', `${path}me/`, { token }), 404, 'store_not_found');
  invalid(t, await call('GET', `${path}?category_id=999`, { token }), 'category_id');
});

t.test('anything that is not a phone number is rejected', async (t) => {
  const owner = await openShop(app);
  const short =
    '1 123 123-4567 1234567 - 02- -02-123-4567 02--123-4567 02-123-4567- 02-12-4567 02-123-456 010-1234-567';
  const long = '02-123-45678 1234567890123456 00-123-4567 0082-2-123-4567';
  const signs = '+ +82 +82) 02/123/4567 02..123.4567 tel:02-123-4567 +821012345678901 전화';
  const numbers = [short, long, signs].flatMap((list) => list.split(' '));
  for (const phone_number of [...numbers, '02-123-4567 (내선 3)', '02-123-4567\n1']) {
    const response = await call('PATCH', `${path}me/`, { token: owner.token, body: { phone_number } });
    invalid(t, response, 'phone_number');
  }
});

t.test('of 20 concurrent registrations, one succeeds', async (t) => {
  const { id, token } = await createUser(app);
  const responses = await inParallel(20, (index) =>
    call('POST', path, { token, body: { name: `가게 ${index}`, category_ids: [1, 2] } }),
  );
  t.strictSame(tally(responses), { '201': 1, '409 store_exists': 19 });
  const created = responses.find(({ status }) => status === 201);
  t.equal(await countRows(app, 'stores WHERE owner_id = $1', id), 1);
  t.strictSame((await call('GET', `${path}me/`, { token })).body.data, created?.body.data);
});

t.test('concurrent changes of the categories leave those of one change, in order', async (t) => {
  const { token } = await createUser(app);
  await createStore(app, token, { category_ids: [12] });
  for (let round = 0; round < 2; round++) {
    const wishes = Array.from({ length: 12 }, (_, index) =>
      Array.from({ length: 1 + (index % 5) }, (_, position) => 1 + ((index + position * 2 + round) % 12)),
    );
    const responses = await Promise.all(
      wishes.map((category_ids) => call('PATCH', `${path}me/`, { token, body: { category_ids } })),
    );
    const ids = ({ body }: TestResponse) =>
      body.data.store_categories.map((category: { id: number }) => category.id).join();
    t.strictSame(responses.map(ids), wishes.map(String), 'each is answered with its own');
    const left = ids(await call('GET', `${path}me/`, { token }));
    t.ok(wishes.map(String).includes(left), `left: ${left}`);
  }
});

t.test('concurrent changes of different fields are all kept', async (t) => {
  const { token } = await createUser(app);
  const empty = { description: '', address: '', phone_number: '', business_hours: '' };
  t.match(await createStore(app, token), empty, 'a field that was never given is an empty string');
  const texts = { name: '새 이름', address: '새 주소', description: '새 설명' };
  const changes = [...Object.entries(texts), ['category_ids', [7]] as const];
  await inParallel(changes.length, async (index) => {
    const body = Object.fromEntries([changes[index] ?? []]);
    await call('PATCH', `${path}me/`, { token, body });
  });
  const left = (await call('GET', `${path}me/`, { token })).body.data;
  t.match(left, { ...texts, store_categories: [{ id: 7, name: '미용' }] });
});
