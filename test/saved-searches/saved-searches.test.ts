import t from 'tap';
import { createTestApp, createUser, deleteAccount } from '../support/app.ts';
import { invalid, rejected, tally } from '../support/assertions.ts';
import { inParallel, lockRows } from '../support/concurrency.ts';
import { savedSearchesIn } from './searching.ts';

const app = await createTestApp();
const { save, list, remove, search } = savedSearchesIn(app);

const none = { q: null, category_id: null, region: null, near: null, radius_m: null };

t.test('a search is saved as it was given, and listed newest first, to its user only', async (t) => {
  const user = await createUser(app);
  const filters = {
    q: '공동 할인',
    category_id: 1,
    region: '망원 동',
    near: '37.5501,126.91',
    radius_m: 500,
  };
  const { body } = await save(user, { name: '  우리 동네 ', ...filters });
  const { id, created_at } = body.data;
  t.strictSame(body.data, { id, name: '우리 동네', ...filters, created_at });

  const other = await save(user, { name: '꽃', q: '꽃다발' });
  t.match(other.body.data, { ...none, name: '꽃', q: '꽃다발' });
  t.strictSame((await list(user)).body.data, { items: [other.body.data, body.data], next_cursor: null });
  const page = (await list(user, '?limit=1')).body.data;
  t.strictSame(page.items, [other.body.data]);
  const rest = await list(user, `?limit=1&cursor=${page.next_cursor}`);
  t.strictSame(rest.body.data, { items: [body.data], next_cursor: null });
  t.strictSame((await list(await createUser(app))).body.data.items, []);
});

t.test('a search that cannot be used is rejected', async (t) => {
  const user = await createUser(app);
  const wrong: [body: object, field: string, code: string][] = [
    [{}, 'q', 'required'],
    [{ category_id: 999 }, 'category_id', 'not_found'],
    [{ q: '꽃', radius_m: 500 }, 'radius_m', 'not_allowed'],
    [{ radius_m: 500 }, 'radius_m', 'not_allowed'],
    [{ near: '91,127' }, 'near', 'invalid_format'],
    [{ near: '37.5' }, 'near', 'invalid_format'],
  ];
  for (const [body, field, code] of wrong) {
    const response = await save(user, { name: '검색', ...body });
    // Texts of `not_allowed` that name no values have no parameters.
    if (code !== 'not_allowed') invalid(t, response, field);
    t.match(response, {
      status: 400,
      body: { data: { code: 'validation_error', errors: [{ field, code }] } },
    });
  }
  t.strictSame((await list(user)).body.data.items, []);
});

t.test('a search is deleted by its user only', async (t) => {
  const user = await createUser(app);
  const id = await search(user, { q: '꽃' });
  rejected(t, await remove(await createUser(app), id), 404, 'saved_search_not_found');
  t.match(await remove(user, id), { status: 200, body: { data: {} } });
  rejected(t, await remove(user, id), 404, 'saved_search_not_found');
  t.strictSame((await list(user)).body.data.items, []);
});

t.test('a user has at most 20 of them, however many are saved at once', async (t) => {
  const user = await createUser(app);
  await app.pool.query(
    "INSERT INTO saved_searches (user_id, name, q) SELECT $1, 'x', 'x' FROM generate_series(1, 17)",
    [user.id],
  );
  const saved = await inParallel(6, () => save(user, { name: '검색', q: '꽃' }));
  t.strictSame(tally(saved), { '201': 3, '409 too_many_saved_searches': 3 });
  const { items } = (await list(user)).body.data;
  t.equal(items.length, 20);
  await remove(user, items[0].id);
  t.equal((await save(user, { name: '검색', q: '꽃' })).status, 201);
});

t.test('they go with the account, also one that is being saved', async (t) => {
  const user = await createUser(app);
  await search(user, { q: '꽃' });
  const lock = await lockRows(t, app, 'SELECT FROM users WHERE id = $1 FOR UPDATE', [user.id]);
  const [deletion, late] = await lock.queue(
    () => deleteAccount(app, user),
    () => save(user, { name: '검색', q: '꽃' }),
  );
  t.equal(deletion.status, 200);
  t.ok(late.status < 500);
  const { rowCount } = await app.pool.query('SELECT FROM saved_searches WHERE user_id = $1', [user.id]);
  t.equal(rowCount, 0);
});
