import pg from 'pg';
import t, { type Test } from 'tap';
import { createTestApp, createUser } from '../support/app.ts';
import { waitForLockWait } from '../support/concurrency.ts';
import { createPost, createStore } from '../support/stores.ts';

const app = await createTestApp();
const { pool } = app;

async function violates(t: Test, statement: Promise<unknown>, constraint: string): Promise<void> {
  const error = await statement.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  t.equal(error instanceof pg.DatabaseError && error.constraint, constraint);
}

t.test('a store without a category cannot be committed', async (t) => {
  const { id } = await createUser(app);
  const insert = pool.query(`INSERT INTO stores (owner_id, name) VALUES ($1, '가게')`, [id]);
  await violates(t, insert, 'stores_category_check');
});

t.test('the last category of a store cannot be deleted', async (t) => {
  const { token } = await createUser(app);
  const store = await createStore(app, token, { category_ids: [1] });
  const taken = pool.query('DELETE FROM store_category_links WHERE store_id = $1', [store.id]);
  await violates(t, taken, 'stores_category_check');
});

t.test('concurrent transactions cannot take away both of two categories', async (t) => {
  const { token } = await createUser(app);
  const store = await createStore(app, token, { category_ids: [1, 2] });
  const [first, second] = [await pool.connect(), await pool.connect()];
  t.teardown(() => first.release());
  t.teardown(() => second.release());
  const take = (client: pg.PoolClient, category: number) =>
    client.query(
      `BEGIN; DELETE FROM store_category_links WHERE store_id = ${store.id} AND category_id = ${category};
       SET CONSTRAINTS ALL IMMEDIATE`,
    );
  await take(first, 1);
  const rejected = violates(t, take(second, 2), 'stores_category_check');
  await waitForLockWait(app);
  await first.query('COMMIT');
  await rejected;
  await second.query('ROLLBACK');
});

t.test('the database limits categories to five and checks phone numbers', async (t) => {
  const { token } = await createUser(app);
  const { id } = await createStore(app, token);
  const link = (category: number, position: number) =>
    pool.query('INSERT INTO store_category_links VALUES ($1, $2, $3)', [id, category, position]);
  await violates(t, link(2, 6), 'store_category_links_position_check');
  await violates(t, link(2, 1), 'store_category_links_store_id_position_key');
  for (const number of ['02--123-4567', '123', '+82-2-123-4567']) {
    const change = pool.query('UPDATE stores SET phone_number = $2 WHERE id = $1', [id, number]);
    await violates(t, change, 'stores_phone_number_check');
  }
});

t.test('the database takes a location with both coordinates, within their ranges', async (t) => {
  const { token } = await createUser(app);
  const { id } = await createStore(app, token);
  for (const [latitude, longitude] of [
    [37.5, null],
    [null, 126.9],
    [90.1, 126.9],
    [37.5, -180.1],
  ]) {
    const change = pool.query('UPDATE stores SET latitude = $2, longitude = $3 WHERE id = $1', [
      id,
      latitude,
      longitude,
    ]);
    await violates(t, change, 'stores_location_check');
  }
});

t.test('the search text of a post is always that of its title and content', async (t) => {
  const { token } = await createUser(app);
  const { id } = await createStore(app, token);
  await pool.query(
    `INSERT INTO posts (store_id, title, content, images) VALUES ($1, '손으로 쓴 ÉTÉ', '글', '{https://example.com/1.png}')`,
    [id],
  );
  const find = async (q: string) =>
    (await app.call('GET', `/api/v1/posts/?q=${encodeURIComponent(q)}`, { token })).body.data.items.length;
  t.equal(await find('쓴 été'), 1);
  await pool.query(`UPDATE posts SET title = '고쳐 단 간판', search_text = 'x' WHERE store_id = $1`, [id]);
  t.equal(await find('쓴 été'), 0);
  t.equal(await find('고쳐 단 간판'), 1);
  const post = await createPost(app, token);
  await pool.query(`UPDATE posts SET search_text = '몰래' WHERE id = $1`, [post.id]);
  t.equal(await find('몰래'), 0);
});
