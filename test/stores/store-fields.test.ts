import t from 'tap';
import { createTestApp, createUser } from '../support/app.ts';
import { invalid, refused } from '../support/assertions.ts';
import { createStore } from '../support/stores.ts';

const app = await createTestApp();
t.teardown(app.close);
const { call } = app;
const path = '/api/v1/stores/';
const { token } = await createUser(app);
const owner = await createUser(app);
await createStore(app, owner.token);

const valid = { name: '두레 카페', category_ids: [1] };
/** Fields that are wrong at registration and at a change alike, with the names that the refusal gives them. */
const wrong: [fields: Record<string, unknown>, ...names: string[]][] = [
  [{ name: '' }, 'name'],
  [{ name: '   ' }, 'name'],
  [{ name: '가'.repeat(51) }, 'name'],
  [{ name: '두 줄\n이름' }, 'name'],
  [{ name: 'a\u0000b' }, 'name'],
  [{ name: '\ud800' }, 'name'],
  [{ name: null }, 'name'],
  [{ name: 7 }, 'name'],
  [{ category_ids: [] }, 'category_ids'],
  [{ category_ids: [1, 2, 3, 4, 5, 6] }, 'category_ids'],
  [{ category_ids: [1, 2, 1] }, 'category_ids'],
  [{ category_ids: 1 }, 'category_ids'],
  [{ category_ids: ['1'] }, '/category_ids/0'],
  [{ category_ids: [1, 0] }, '/category_ids/1'],
  [{ category_ids: [1, 1.5] }, '/category_ids/1'],
  [{ category_ids: [1, 2147483648] }, '/category_ids/1'],
  [{ category_ids: [1, 999] }, '/category_ids/1'],
  [{ category_ids: [998, 1, 999] }, '/category_ids/0', '/category_ids/2'],
  [{ description: 'a'.repeat(2001) }, 'description'],
  [{ description: '탭\t' + '글' }, 'description'],
  [{ address: 'a'.repeat(201) }, 'address'],
  [{ address: '두\n줄' }, 'address'],
  [{ business_hours: 'a'.repeat(101) }, 'business_hours'],
  [{ business_hours: ['9-6'] }, 'business_hours'],
  [{ owner_id: 1 }, 'owner_id'],
  [{ id: 1, created_at: '2020-01-01T00:00:00Z' }, 'id', 'created_at'],
];

t.test('what is wrong with a field is named', async (t) => {
  for (const [fields, ...names] of wrong) {
    invalid(t, await call('POST', path, { token, body: { ...valid, ...fields } }), ...names);
    invalid(t, await call('PATCH', `${path}me/`, { token: owner.token, body: fields }), ...names);
  }
  refused(t, await call('GET', `${path}me/`, { token }), 404, 'store_not_found');
});

t.test('every field that is wrong is named at once', async (t) => {
  invalid(t, await call('POST', path, { token, body: {} }), 'name', 'category_ids');
  invalid(t, await call('POST', path, { token }), 'name', 'category_ids');
  const body = { name: '', category_ids: [], phone_number: 'x', color: 'red' };
  invalid(t, await call('POST', path, { token, body }), 'name', 'category_ids', 'phone_number', 'color');
});

t.test('PATCH without a field is refused', async (t) => {
  invalid(t, await call('PATCH', `${path}me/`, { token: owner.token, body: {} }), 'body');
  invalid(t, await call('PATCH', `${path}me/`, { token: owner.token }), 'body');
  invalid(t, await call('PATCH', `${path}me/`, { token: owner.token, body: [] }), 'body');
});

t.test('the longest values are kept as they are', async (t) => {
  const body = {
    name: '😀'.repeat(50),
    category_ids: [1, 2, 3, 4, 5],
    description: '😀'.repeat(2000),
    address: '가'.repeat(200),
    phone_number: '821012345678901',
    business_hours: '나'.repeat(100),
  };
  const { token } = await createUser(app);
  const { category_ids, ...fields } = body;
  t.match(await createStore(app, token, body), fields);
});

t.test('phone numbers of Korea and of other countries are taken', async (t) => {
  const numbers = [
    ...['02-123-4567', '02-1234-5678', '0212345678', '031-123-4567', '010-1234-5678', '01012345678'],
    ...[
      '070-1234-5678',
      '0505-123-4567',
      '0502-1234-5678',
      '080-123-4567',
      '1588-1234',
      '15881234',
      '1899-0000',
    ],
    ...[
      '82-2-123-4567',
      '82-10-1234-5678',
      '821012345678',
      '1-212-555-0100',
      '44-20-7946-0958',
      '81-3-1234-5678',
    ],
    '',
  ];
  for (const phone_number of numbers) {
    const answer = await call('PATCH', `${path}me/`, { token: owner.token, body: { phone_number } });
    t.equal(answer.body.data.phone_number, phone_number, phone_number);
  }
});

t.test('what is no phone number is refused', async (t) => {
  const numbers = [
    ...['1', '123', '123-4567', '1234567', '-', '02-', '-02-123-4567', '02--123-4567', '02-123-4567-'],
    ...[
      '+82-2-123-4567',
      '(02)123-4567',
      '02 123 4567',
      '02.123.4567',
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
  const trimmed = await call('PATCH', `${path}me/`, {
    token: owner.token,
    body: { phone_number: ' 1588-1234 ' },
  });
  t.equal(trimmed.body.data.phone_number, '1588-1234');
});

t.test('a body that is no JSON object is refused', async (t) => {
  const headers = { 'content-type': 'application/json' };
  refused(t, await call('POST', path, { token, headers, body: '{' }), 400, 'malformed_json');
  const text = { 'content-type': 'text/plain' };
  refused(t, await call('POST', path, { token, headers: text, body: 'x' }), 415, 'unsupported_media_type');
});
