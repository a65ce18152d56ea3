import t from 'tap';
import { isOpenPost } from '../../src/domains/posts/index.ts';
import { checkNotOver } from '../../src/domains/posts/service.ts';
import { sql } from '../../src/infrastructure/database/sql.ts';
import { createTestApp, createUser } from '../support/app.ts';
import { invalid, rejected } from '../support/assertions.ts';
import { inOrder, rowOf } from '../support/concurrency.ts';
import { cleanUp } from '../support/images.ts';
import {
  openTwoShops,
  openTwoVerifiedShops,
  requestPartnership,
  sendRequest,
  transition,
} from '../support/partner-requests.ts';
import { countRows } from '../support/rows.ts';
import { createPost, idsIn, openShop, type Shop, type TestPost } from '../support/stores.ts';

const app = await createTestApp();
const { call, pool } = app;
const path = '/api/v1/posts/';

const startedAt = Date.now();

/** A day in Korea, counted from that on which the file starts: midnight may pass while it runs. */
const day = (distance: number) =>
  new Date(startedAt + (9 + 24 * distance) * 3_600_000).toISOString().slice(0, 10);

/** Makes the last day of a post one counted from today, as if time had passed. */
const setLastDay = (id: number, distance: number) =>
  pool.query('UPDATE posts SET closes_on = $2::date WHERE id = $1', [id, day(distance)]);

const patch = (shop: Shop, id: number, body: object) =>
  call('PATCH', `${path}${id}/`, { token: shop.token, body });

/** Status and last day after a change. */
async function changed(shop: Shop, id: number, body: object): Promise<unknown[]> {
  const { data } = (await patch(shop, id, body)).body;
  return [data.status, data.closes_on];
}

const listed = async ({ store, token }: Shop, query: string) =>
  idsIn(await call('GET', `${path}?store_id=${store.id}${query}`, { token }));

t.test('a post is open without a last day, and until it is over', async (t) => {
  const shop = await openShop(app);
  t.match(await createPost(app, shop.token), { status: 'open', closes_on: null });
  t.match(await createPost(app, shop.token, { closes_on: null }), { status: 'open', closes_on: null });
  const post = await createPost(app, shop.token, { closes_on: day(1) });
  t.match(post, { status: 'open', closes_on: day(1) });
  await setLastDay(post.id, -1);
  const { token } = await createUser(app);
  const read = await call('GET', `${path}${post.id}/`, { token });
  t.match(read.body.data, { status: 'closed', closes_on: day(-1) }, 'others read it, too');
});

t.test('a day ends at midnight in Korea', async (t) => {
  const client = await pool.connect();
  t.teardown(() => client.release());
  // A `now()` that is found before that of PostgreSQL.
  await client.query('BEGIN; CREATE SCHEMA clock; SET LOCAL search_path = clock, pg_catalog, public');
  for (const zone of ['UTC', 'America/New_York', 'Asia/Tokyo']) {
    await client.query(`SET LOCAL timezone = '${zone}'`);
    for (const [time, isOpen] of [
      ['2026-11-25T15:00:00.000Z', true],
      ['2026-11-26T14:59:59.999Z', true],
      ['2026-11-26T15:00:00.000Z', false],
    ] as const) {
      await client.query(
        `CREATE OR REPLACE FUNCTION clock.now() RETURNS timestamptz STABLE RETURN timestamptz '${time}'`,
      );
      const { text } =
        sql`SELECT ${isOpenPost('p')} AS open FROM (SELECT NULL AS closed_at, date '2026-11-26' AS closes_on) p`;
      t.strictSame((await client.query(text)).rows, [{ open: isOpen }], `${time} in ${zone}`);
      const isAccepted = () => checkNotOver('2026-11-26', Date.parse(time));
      if (isOpen) t.doesNotThrow(isAccepted, time);
      else t.throws(isAccepted, time);
    }
  }
  await client.query('ROLLBACK');
});

t.test('a last day that is over, or is no date, is rejected', async (t) => {
  const shop = await openShop(app);
  const post = (closes_on: unknown) =>
    call('POST', path, { token: shop.token, body: { title: '글', content: '내용', closes_on } });
  const past = await post(day(-1));
  invalid(t, past, 'closes_on');
  const [message] = past.body.data.fields.closes_on;
  t.strictSame(past.body.data.errors, [{ field: 'closes_on', code: 'too_small', message }]);
  const { id } = await createPost(app, shop.token);
  const notDates = ['2026-02-30', '2026-13-01', '0000-01-01', '26-01-01', '2099-1-1', '2099-01-01T00:00:00Z'];
  for (const text of [...notDates, '']) {
    for (const response of [await post(text), await patch(shop, id, { closes_on: text })]) {
      invalid(t, response, 'closes_on');
      t.equal(response.body.data.errors[0].code, 'invalid_format', text);
    }
  }
  t.strictSame(await changed(shop, id, { closes_on: '9999-12-31' }), ['open', '9999-12-31']);
});

t.test('its author closes and opens a post', async (t) => {
  const shop = await openShop(app);
  const { id } = await createPost(app, shop.token);
  t.strictSame(await changed(shop, id, { closes_on: day(-1) }), ['closed', day(-1)], 'at once');
  t.strictSame(await changed(shop, id, { status: 'open' }), ['open', null], 'opening removes the past day');
  t.strictSame(await changed(shop, id, { status: 'open', closes_on: day(-1) }), ['open', null]);
  t.strictSame(await changed(shop, id, { status: 'open', closes_on: day(3) }), ['open', day(3)]);
  t.strictSame(await changed(shop, id, { status: 'open' }), ['open', day(3)], 'another day stays');
  t.strictSame(await changed(shop, id, { status: 'closed' }), ['closed', day(3)]);
  t.strictSame(await changed(shop, id, { closes_on: null }), ['closed', null]);
  t.strictSame(await changed(shop, id, { closes_on: day(5) }), ['closed', day(5)], 'it stays closed');
  t.strictSame(await changed(shop, id, { title: '새 제목' }), ['closed', day(5)]);
  t.strictSame(await changed(shop, id, { status: 'open', closes_on: day(1) }), ['open', day(1)]);
  await setLastDay(id, -1);
  t.strictSame(await changed(shop, id, { closes_on: day(2) }), ['closed', day(2)], 'closed by its last day');
});

t.test('lists have open posts, others by status, and all of them for their author', async (t) => {
  const shop = await openShop(app, '마감 가게', { category_ids: [1] });
  const open = await createPost(app, shop.token, { title: '마감 없는 글', closes_on: day(1) });
  const over = await createPost(app, shop.token, { title: '마감 지난 글' });
  const closed = await createPost(app, shop.token, { title: '마감 닫은 글' });
  await setLastDay(over.id, -1);
  await patch(shop, closed.id, { status: 'closed' });
  for (const filter of ['', `&q=${encodeURIComponent('마감')}`, '&category_id=1']) {
    for (const status of ['', '&status=open', '&mine=true&status=open'])
      t.strictSame(await listed(shop, filter + status), [open.id], filter + status);
    t.strictSame(await listed(shop, `${filter}&status=closed`), [closed.id, over.id], filter);
    for (const status of ['&status=all', '&mine=true'])
      t.strictSame(await listed(shop, filter + status), [closed.id, over.id, open.id], filter + status);
  }
  const { token } = shop;
  const whole = await call('GET', `${path}?status=closed&q=${encodeURIComponent('닫은')}`, { token });
  t.match(whole.body.data.items, [{ id: closed.id, status: 'closed' }], 'of all stores');
  const { posts } = (await call('GET', '/api/v1/stores/mypage/', { token })).body.data;
  const own = posts.map(({ id }: TestPost) => id);
  t.strictSame(own, [closed.id, over.id, open.id]);
});

t.test('a closed post takes no request; a pending one can be accepted', async (t) => {
  const { sender, receiver, post } = await openTwoVerifiedShops(app);
  const id = await sendRequest(app, sender, post);
  await patch(receiver, post.id, { status: 'closed' });
  const other = await openShop(app);
  rejected(t, await requestPartnership(app, other, post), 409, 'post_closed');
  rejected(t, await requestPartnership(app, sender, post), 409, 'post_closed');
  rejected(t, await requestPartnership(app, receiver, post), 409, 'own_post');
  const mail = await app.mails.next(receiver.email);
  t.match(mail.subject, sender.store.name, 'of the request before');
  t.equal((await transition(app, receiver, id, 'accept')).body.data.status, '수락됨');
  await patch(receiver, post.id, { status: 'open', closes_on: day(1) });
  t.equal((await requestPartnership(app, other, post)).status, 201);
  await setLastDay(post.id, -1);
  rejected(t, await requestPartnership(app, await openShop(app), post), 409, 'post_closed');
  await call('DELETE', `${path}${post.id}/`, { token: receiver.token });
  rejected(t, await requestPartnership(app, sender, post), 404, 'post_not_found');
});

t.test('a change of the status waits for a request that is being sent', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  const ask = () => requestPartnership(app, sender, post);
  const close = () => patch(receiver, post.id, { status: 'closed' });
  const [asked, closed] = await inOrder(t, app, receiver, ask, close);
  t.equal(asked.status, 201);
  t.equal(closed.body.data.status, 'closed');
  t.equal((await transition(app, receiver, asked.body.data.id, 'accept')).status, 200);
});

t.test('a request waits for a change of the status, and sees it', async (t) => {
  for (const [status, result] of [
    ['closed', 409],
    ['open', 201],
  ] as const) {
    const { sender, receiver, post } = await openTwoShops(app);
    if (status === 'open') await patch(receiver, post.id, { status: 'closed' });
    const change = () => patch(receiver, post.id, { status });
    const ask = () => requestPartnership(app, sender, post);
    const [changing, asked] = await inOrder(t, app, rowOf('posts', post), change, ask);
    t.equal(changing.body.data.status, status);
    t.equal(asked.status, result, status);
  }
});

t.test('the clean-up marks posts whose last day is over', async (t) => {
  const shop = await openShop(app);
  const [over, next] = [await createPost(app, shop.token), await createPost(app, shop.token)];
  await setLastDay(over.id, -1);
  await setLastDay(next.id, 1);
  await cleanUp(app);
  const due = 'posts WHERE store_id = $1 AND closed_at IS NULL AND closes_on < $2::date';
  t.equal(await countRows(app, due, shop.store.id, day(0)), 0);
  t.strictSame(await listed(shop, ''), [next.id]);
  t.strictSame(await changed(shop, over.id, { status: 'open' }), ['open', null]);
});
