import t, { type Test } from 'tap';
import { createTestApp, createUser } from '../support/app.ts';
import { during } from '../support/concurrency.ts';
import { createPost, openShop } from '../support/stores.ts';

const app = await createTestApp();
const { pool } = app;

async function violates(t: Test, statement: Promise<unknown>, constraint: string): Promise<void> {
  t.match(await statement.catch((error: unknown) => error), { constraint });
}

t.test('a store cannot be committed without a category, nor lose its last one', async (t) => {
  const { id } = await createUser(app);
  const insert = pool.query(`INSERT INTO stores (owner_id, name) VALUES ($1, '가게')`, [id]);
  await violates(t, insert, 'stores_category_check');
  const { store } = await openShop(app);
  const taken = pool.query('DELETE FROM store_category_links WHERE store_id = $1', [store.id]);
  await violates(t, taken, 'stores_category_check');
});

t.test('concurrent transactions cannot take away both of two categories', async (t) => {
  const { store } = await openShop(app, '가게', { category_ids: [1, 2] });
  const take = (category: number) =>
    `DELETE FROM store_category_links WHERE store_id = ${store.id} AND category_id = ${category}`;
  const first = `${take(1)}; SET CONSTRAINTS ALL IMMEDIATE`;
  await during(t, app, [first], () => violates(t, pool.query(take(2)), 'stores_category_check'));
});

t.test('the database checks positions of categories, phone numbers and locations', async (t) => {
  const { id } = (await openShop(app)).store;
  const link = (category: number, position: number) =>
    pool.query('INSERT INTO store_category_links VALUES ($1, $2, $3)', [id, category, position]);
  await violates(t, link(2, 6), 'store_category_links_position_check');
  await violates(t, link(2, 1), 'store_category_links_store_id_position_key');
  const set = (change: string) => pool.query(`UPDATE stores SET ${change} WHERE id = $1`, [id]);
  for (const number of ['02--123-4567', '123', '+82-2-123-4567'])
    await violates(t, set(`phone_number = '${number}'`), 'stores_phone_number_check');
  for (const place of ['37.5, NULL', 'NULL, 126.9', '90.1, 126.9', '37.5, -180.1'])
    await violates(t, set(`(latitude, longitude) = (${place})`), 'stores_location_check');
});

t.test('the search text of a post is always that of its title and content', async (t) => {
  const { token, store } = await openShop(app);
  const { id } = store;
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
