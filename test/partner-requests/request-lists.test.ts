import t from 'tap';
import { createTestApp, createUser } from '../support/app.ts';
import { invalid, refused } from '../support/assertions.ts';
import {
  openTwoShops,
  requestPartnership,
  requestsPath,
  sendRequest,
  transition,
} from '../support/partner-requests.ts';
import { createPost, openShop, type Shop } from '../support/stores.ts';

const app = await createTestApp();
t.teardown(app.close);

const list = (shop: Pick<Shop, 'token'>, query = '') =>
  app.call('GET', `${requestsPath}${query}`, { token: shop.token });

/** Requests of one shop for many posts of another, oldest first. */
async function sendMany(count: number) {
  const shops = await openTwoShops(app);
  const ids: number[] = [];
  for (let index = 0; index < count; index++) {
    const post = await createPost(app, shops.receiver.token, { title: `글 ${index}` });
    ids.push(await sendRequest(app, shops.sender, post));
  }
  return { ...shops, ids };
}

t.test('each side lists a request in its own box', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  const created = (await requestPartnership(app, sender, post)).body.data;
  const sent = await list(sender, '?box=sent');
  t.equal(sent.status, 200);
  t.strictSame(sent.body.data, { items: [created], next_cursor: null });
  const received = await list(receiver, '?box=received');
  const { receiver_store_id, receiver_store_name, ...request } = created;
  const { id, name, store_categories } = sender.store;
  t.strictSame(received.body.data.items, [
    { ...request, box: 'received', sender_store: { id, name, store_categories } },
  ]);
  t.strictSame((await list(receiver)).body, received.body, 'received is the default');
  t.strictSame((await list(sender)).body.data.items, []);
  t.strictSame((await list(receiver, '?box=sent')).body.data.items, []);
});

t.test('a user without a store has no requests', async (t) => {
  const user = await createUser(app);
  for (const query of ['', '?box=sent', '?box=received']) {
    const answer = await list(user, query);
    t.equal(answer.status, 200);
    t.strictSame(answer.body.data, { items: [], next_cursor: null });
  }
});

t.test('requests can be filtered by status', async (t) => {
  const { sender, receiver, ids } = await sendMany(4);
  const [accepted = 0, declined = 0, withdrawn = 0, requested = 0] = ids;
  await transition(app, receiver, accepted, 'accept');
  await transition(app, receiver, declined, 'decline');
  await transition(app, sender, withdrawn, 'withdraw');
  for (const [status, id] of Object.entries({
    수락됨: accepted,
    거절됨: declined,
    취소됨: withdrawn,
    요청됨: requested,
  })) {
    for (const [shop, box] of [
      [sender, 'sent'],
      [receiver, 'received'],
    ] as const) {
      const { items } = (await list(shop, `?box=${box}&status=${encodeURIComponent(status)}`)).body.data;
      t.strictSame(
        items.map((item: { id: number; status: string }) => [item.id, item.status]),
        [[id, status]],
      );
    }
  }
});

t.test('a query that is not valid is rejected', async (t) => {
  const user = await createUser(app);
  for (const [query, field] of [
    ['?box=both', 'box'],
    ['?box=sent&box=received', 'box'],
    ['?status=requested', 'status'],
    [`?status=${encodeURIComponent('기타')}`, 'status'],
    ['?limit=0', 'limit'],
    ['?limit=101', 'limit'],
    ['?limit=ten', 'limit'],
  ] as const) {
    invalid(t, await list(user, query), field);
  }
  const encoded = (text: string) => Buffer.from(text).toString('base64url');
  const positions = ['1', '1_a', '1_9007199254740992', '1_0'].map(encoded);
  for (const cursor of ['x', 'x'.repeat(201), ...positions, '%00']) {
    refused(t, await list(user, `?cursor=${cursor}`), 400, 'invalid_cursor');
  }
});

t.test('pages go from the newest to the oldest, each request once', async (t) => {
  const { sender, receiver, ids } = await sendMany(7);
  for (const [shop, box] of [
    [sender, 'sent'],
    [receiver, 'received'],
  ] as const) {
    const seen: number[] = [];
    let cursor = '';
    for (const expected of [3, 3, 1]) {
      const { items, next_cursor } = (await list(shop, `?box=${box}&limit=3${cursor}`)).body.data;
      t.equal(items.length, expected);
      seen.push(...items.map(({ id }: { id: number }) => id));
      cursor = `&cursor=${next_cursor}`;
    }
    t.equal(cursor, '&cursor=null');
    t.strictSame(seen, [...ids].reverse());
  }
});

t.test('pages stay right while requests are added and change their status', async (t) => {
  const { sender, receiver, ids } = await sendMany(6);
  await app.pool.query('UPDATE partner_requests SET created_at = date_trunc($2, now()) WHERE id = ANY ($1)', [
    ids,
    'second',
  ]);
  const pending = encodeURIComponent('요청됨');
  const first = (await list(receiver, `?limit=2&status=${pending}`)).body.data;
  const [, , , fourth = 0, fifth = 0, sixth = 0] = ids;
  t.strictSame(
    first.items.map(({ id }: { id: number }) => id),
    [sixth, fifth],
  );
  await sendRequest(app, sender, await createPost(app, receiver.token));
  await transition(app, receiver, fifth, 'accept');
  await transition(app, receiver, fourth, 'decline');
  const rest = (await list(receiver, `?limit=10&status=${pending}&cursor=${first.next_cursor}`)).body.data;
  t.strictSame(
    rest.items.map(({ id }: { id: number }) => id),
    ids.slice(0, 3).reverse(),
  );
});

t.test('requests of a closed store keep its name', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  const leaving = await openShop(app, '떠나는 가게');
  const own = await createPost(app, leaving.token, { title: '마지막 글' });
  const fromLeaving = await sendRequest(app, leaving, post);
  await transition(app, receiver, fromLeaving, 'accept');
  const toLeaving = await sendRequest(app, sender, own);
  const body = { password: leaving.password };
  t.equal((await app.call('DELETE', '/auth/me/', { token: leaving.token, body })).status, 200);
  const [received] = (await list(receiver)).body.data.items;
  t.match(received, { id: fromLeaving, status: '종료됨', sender_store: { name: '떠나는 가게' } });
  const [sent] = (await list(sender, '?box=sent')).body.data.items;
  t.match(sent, { id: toLeaving, status: '취소됨', receiver_store_name: '떠나는 가게' });
});
