import t from 'tap';
import { createTestApp, createUser } from '../support/app.ts';
import type { Json } from '../support/json.ts';
import { createPost, openShop } from '../support/stores.ts';
import { until } from '../support/until.ts';

const app = await createTestApp();
const { call, pool } = app;

const save = (token: string, body: object) => call('POST', '/api/v1/saved-searches/', { token, body });

/** Waits until no post waits to be matched. */
const matched = () =>
  until('the post was matched', async () => {
    const { rowCount } = await pool.query(
      `SELECT FROM graphile_worker.jobs WHERE task_identifier = 'match_saved_searches'`,
    );
    return rowCount === 0;
  });

async function notificationsOf(token: string): Promise<Json[]> {
  return (await call('GET', '/api/v1/notifications/mypage/', { token })).body.data.items;
}

t.test('a new post that matches every filter of a saved search notifies its user once', async (t) => {
  const cafe = await openShop(app);
  const { token } = await createUser(app);
  const near = '37.55601,126.90412';
  const address = '서울 마포구 망원동 57-1';
  await call('PATCH', '/api/v1/stores/me/', {
    token: cafe.token,
    body: { address, location: { latitude: 37.5562, longitude: 126.9041 } },
  });
  const { body } = await save(token, {
    name: '동네',
    near,
    radius_m: 500,
    region: '망원 동',
    category_id: 1,
    q: '공동 할인',
  });
  t.match(body.data, {
    name: '동네',
    near,
    radius_m: 500,
    region: '망원 동',
    category_id: 1,
    q: '공동 할인',
  });
  await save(token, { name: '같은 동네', region: '마포구' });
  await save(token, { name: '먼 곳', near: '35.1,129.1', q: '공동' });
  await createPost(app, cafe.token, { title: '꽃다발 만들기' });
  const post = await createPost(app, cafe.token, { title: '주말 공동할인' });
  await matched();
  const found = await notificationsOf(token);
  const titles = found.map(({ kind, post: { title } }) => [kind, title]);
  t.strictSame(titles.sort(), [
    ['saved_search_match', '꽃다발 만들기'],
    ['saved_search_match', '주말 공동할인'],
  ]);
  const [match] = found.filter((one) => one.post.id === post.id);
  t.match(match, { saved_search_id: body.data.id, store: { name: cafe.store.name } });
});
