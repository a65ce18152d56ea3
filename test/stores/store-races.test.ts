import t from 'tap';
import { createTestApp, createUser } from '../support/app.ts';
import { refused } from '../support/assertions.ts';
import { inParallel } from '../support/concurrency.ts';
import { createStore } from '../support/stores.ts';

const app = await createTestApp();
t.teardown(app.close);
const { call, pool } = app;
const path = '/api/v1/stores/';

async function countStores(ownerId: number): Promise<number> {
  const { rows } = await pool.query('SELECT count(*)::int AS stores FROM stores WHERE owner_id = $1', [
    ownerId,
  ]);
  return rows[0].stores;
}

t.test('of 20 concurrent registrations, one succeeds', async (t) => {
  const { id, token } = await createUser(app);
  const answers = await inParallel(20, (index) =>
    call('POST', path, { token, body: { name: `가게 ${index}`, category_ids: [1, 2] } }),
  );
  const created = answers.filter(({ status }) => status === 201);
  t.equal(created.length, 1);
  for (const answer of answers) {
    if (answer.status !== 201) refused(t, answer, 409, 'store_exists');
  }
  t.equal(await countStores(id), 1);
  t.strictSame((await call('GET', `${path}me/`, { token })).body.data, created[0]?.body.data);
});

t.test('concurrent changes of the categories leave those of one change, in order', async (t) => {
  const { token } = await createUser(app);
  await createStore(app, token, { category_ids: [12] });
  for (let round = 0; round < 5; round++) {
    const wishes = Array.from({ length: 12 }, (_, index) =>
      Array.from({ length: 1 + (index % 5) }, (_, position) => 1 + ((index + position * 2 + round) % 12)),
    );
    const answers = await Promise.all(
      wishes.map((category_ids) => call('PATCH', `${path}me/`, { token, body: { category_ids } })),
    );
    const ids = (answer: (typeof answers)[number]) =>
      answer.body.data.store_categories.map((category: { id: number }) => category.id);
    answers.forEach((answer, index) => {
      t.equal(answer.status, 200);
      t.strictSame(ids(answer), wishes[index], 'each is answered with its own');
    });
    const left = ids(await call('GET', `${path}me/`, { token }));
    t.ok(
      wishes.some((wish) => JSON.stringify(wish) === JSON.stringify(left)),
      `left: ${left}`,
    );
  }
});

t.test('concurrent changes of different fields are all kept', async (t) => {
  const { token } = await createUser(app);
  await createStore(app, token);
  const changes = [
    { name: '새 이름' },
    { address: '새 주소' },
    { description: '새 설명' },
    { category_ids: [7] },
  ];
  await Promise.all(changes.map((body) => call('PATCH', `${path}me/`, { token, body })));
  t.match((await call('GET', `${path}me/`, { token })).body.data, {
    name: '새 이름',
    address: '새 주소',
    description: '새 설명',
    store_categories: [{ id: 7 }],
  });
});

t.test('an idempotency key belongs to the caller', async (t) => {
  const headers = { 'idempotency-key': 'shared' };
  const body = { name: '두레 카페', category_ids: [1] };
  const [one, two] = [await createUser(app), await createUser(app)];
  const first = await call('POST', path, { token: one.token, headers, body });
  const second = await call('POST', path, { token: two.token, headers, body });
  t.equal(second.status, 201);
  t.not(second.body.data.id, first.body.data.id);
});

t.test('of concurrent requests with one key, one does the work and all get its answer', async (t) => {
  const { id, token } = await createUser(app);
  const headers = { 'idempotency-key': 'parallel' };
  const body = { name: '두레 카페', category_ids: [1] };
  const answers = await inParallel(8, () => call('POST', path, { token, headers, body }));
  for (const answer of answers) t.strictSame([answer.status, answer.body], [201, answers[0]?.body]);
  t.equal(await countStores(id), 1);
});
