import t from 'tap';
import { listPartners as findPartners } from '../../src/domains/partner-requests/repository/requests.ts';
import { createTestApp, createUser, deleteAccount, logIn, readPages, suspend } from '../support/app.ts';
import { rejected } from '../support/assertions.ts';
import { openTestDatabase } from '../support/database.ts';
import {
  becomePartners,
  listPartners,
  openTwoShops,
  readRequest,
  requestsPath,
  sendRequest,
  transition,
} from '../support/partner-requests.ts';
import { createPost, idsIn, openShop, type Shop } from '../support/stores.ts';

const app = await createTestApp();

const list = (shop: Pick<Shop, 'token'>, query = '') =>
  app.call('GET', `${requestsPath}${query}`, { token: shop.token });

const idsOf = (items: { id: number }[]) => items.map(({ id }) => id);

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

t.test('each side lists a request in its own box, and filters by status', async (t) => {
  const { sender, receiver, ids } = await sendMany(4);
  const [accepted = 0, declined = 0, withdrawn = 0, requested = 0] = ids;
  await transition(app, receiver, accepted, 'accept');
  await transition(app, receiver, declined, 'decline');
  await transition(app, sender, withdrawn, 'withdraw');
  const others = [
    await list(sender, '?box=received'),
    await list(receiver, '?box=sent'),
    await list(await createUser(app), '?box=sent'),
  ];
  t.strictSame(others.flatMap(idsIn), []);
  const expected = { 수락됨: accepted, 거절됨: declined, 취소됨: withdrawn, 요청됨: requested };
  for (const [status, id] of Object.entries(expected)) {
    for (const [box, shop] of Object.entries({ sent: sender, received: receiver })) {
      const { items } = (await list(shop, `?box=${box}&status=${encodeURIComponent(status)}`)).body.data;
      t.match(items, [{ id, status }]);
      t.equal(items.length, 1);
    }
  }
});

t.test('pages hold each request once, while requests are added and change their status', async (t) => {
  const { sender, receiver, ids } = await sendMany(7);
  await app.pool.query('UPDATE partner_requests SET created_at = date_trunc($2, now()) WHERE id = ANY ($1)', [
    ids,
    'second',
  ]);
  for (const [box, shop] of Object.entries({ sent: sender, received: receiver })) {
    const pages = await readPages((cursor) => list(shop, `?box=${box}&limit=3${cursor}`));
    t.strictSame(pages, [ids.slice(4).reverse(), ids.slice(1, 4).reverse(), ids.slice(0, 1)]);
  }
  const pending = `status=${encodeURIComponent('요청됨')}`;
  const first = (await list(receiver, `?limit=2&${pending}`)).body.data;
  const [, , , , fifth = 0, sixth = 0, seventh = 0] = ids;
  t.strictSame(idsOf(first.items), [seventh, sixth]);
  await sendRequest(app, sender, await createPost(app, receiver.token));
  await transition(app, receiver, sixth, 'accept');
  await transition(app, receiver, fifth, 'decline');
  const rest = (await list(receiver, `?limit=10&${pending}&cursor=${first.next_cursor}`)).body.data;
  t.strictSame(idsOf(rest.items), ids.slice(0, 4).reverse());
});

const phone = '02-123-4567';
const contactOf = ({ email, store }: Shop) => ({ name: '김두레', email, phone_number: store.phone_number });
const partnersIn = (response: Awaited<ReturnType<typeof listPartners>>): number[] =>
  response.body.data.items.map(({ store }: { store: { id: number } }) => store.id);

t.test('a partnership outlives its post', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app, { phone_number: phone });
  const id = await becomePartners(app, { sender, receiver, post });
  await app.call('DELETE', `/api/v1/posts/${post.id}/`, { token: receiver.token });
  const { data } = (await readRequest(app, sender, id)).body;
  t.match(data, { post: null, post_title: post.title, status: '수락됨' });
  t.strictSame(data.contact, contactOf(receiver));
  const [partner] = (await listPartners(app, sender)).body.data.items;
  t.strictSame([partner.request_id, partner.since], [id, data.updated_at]);
});

t.test('the contact is shown to the two sides only, and only while the request is accepted', async (t) => {
  const sides = await openTwoShops(app, { phone_number: phone });
  const { sender, receiver, post } = sides;
  const third = await openShop(app, '셋째 가게');
  // A partner of one side, and a store whose request for the same post waits.
  const partnerOfSender = await createPost(app, sender.token);
  await becomePartners(app, { sender: third, receiver: sender, post: partnerOfSender });
  await sendRequest(app, third, post);
  const users = [third, await createUser(app)];

  /** Asserts who sees the contacts of the two sides, in the detail of a request and in the lists of partners. */
  async function contactsShown(id: number, isShown: boolean, what: string, shown = [sender, receiver]) {
    for (const side of shown) {
      const other = side === sender ? receiver : sender;
      const { data } = (await readRequest(app, side, id)).body;
      t.strictSame(data.contact, isShown ? contactOf(other) : null, `${what}: detail`);
      t.equal(partnersIn(await listPartners(app, side)).includes(other.store.id), isShown, `${what}: list`);
    }
    for (const user of users) {
      rejected(t, await readRequest(app, user, id), 404, 'partner_request_not_found');
      const { text } = await listPartners(app, user);
      t.notOk(text.includes(receiver.email) || text.includes(phone), `${what}: others`);
    }
  }

  for (const action of ['withdraw', 'decline'] as const) {
    const id = await sendRequest(app, sender, post);
    await contactsShown(id, false, 'pending');
    await transition(app, action === 'withdraw' ? sender : receiver, id, action);
    await contactsShown(id, false, action);
  }
  const ended = await becomePartners(app, sides);
  await contactsShown(ended, true, 'accepted');
  await transition(app, sender, ended, 'end');
  await contactsShown(ended, false, 'ended');

  const id = await becomePartners(app, sides);
  t.equal((await readRequest(app, sender, ended)).body.data.contact, null, 'the ended request stays without');
  await suspend(app, receiver);
  await contactsShown(id, false, 'suspended', [sender]);
  t.match((await readRequest(app, sender, id)).body.data, { status: '수락됨', post: null });
  await app.pool.query('UPDATE users SET suspended_at = NULL WHERE id = $1', [receiver.id]);
  Object.assign(receiver, await logIn(app, receiver));
  await contactsShown(id, true, 'after the suspension');
  t.equal((await deleteAccount(app, receiver)).status, 200);
  await contactsShown(id, false, 'deleted', [sender]);
  t.match((await readRequest(app, sender, id)).body.data, { status: '종료됨', post: null });
  t.match((await list(sender, '?box=sent')).body.data.items[0], { id, receiver_store_name: '햇살카페' });
});

t.test('each partner is listed once with the newest request, in pages', async (t) => {
  const own = await openShop(app, '우리 가게');
  t.strictSame((await listPartners(app, await createUser(app))).body.data, { items: [], next_cursor: null });
  const partners: Shop[] = [];
  const requests: number[] = [];
  for (let index = 0; index < 5; index++) {
    const partner = await openShop(app, `제휴 ${index}`);
    partners.push(partner);
    const [sender, receiver] = index % 2 ? [own, partner] : [partner, own];
    const request = () => createPost(app, receiver.token).then((post) => ({ sender, receiver, post }));
    await becomePartners(app, await request());
    // A second one with each, so that the first ones come after those of all partners.
    requests.push(await becomePartners(app, await request()));
  }
  // The first partner asks the other way round, which makes it the newest.
  const [first] = partners;
  if (first === undefined) throw new Error('no partner');
  const post = await createPost(app, first.token);
  const crossing = await becomePartners(app, { sender: own, receiver: first, post });
  const expected = [0, 4, 3, 2, 1].map((index) => partners[index]?.store.id);
  const all = await listPartners(app, own);
  t.strictSame(partnersIn(all), expected);
  t.equal(all.body.data.next_cursor, null);
  const listed = all.body.data.items.map((item: { request_id: number }) => item.request_id);
  t.strictSame(listed, [crossing, ...requests.slice(1).reverse()]);

  const page = await listPartners(app, own, '?limit=2');
  t.strictSame(partnersIn(page), expected.slice(0, 2));
  await transition(app, own, requests[2] ?? 0, 'end');
  const rest = await listPartners(app, own, `?limit=3&cursor=${page.body.data.next_cursor}`);
  t.strictSame(partnersIn(rest), expected.slice(2), 'the older request with that store is still accepted');
  await suspend(app, first);
  t.notOk(partnersIn(await listPartners(app, own)).includes(first.store.id), 'a suspended store is left out');

  // A page that has examined what it may continues after that.
  const database = openTestDatabase(t, app.url, 1);
  const found: number[] = [];
  let pages = 0;
  let after: Parameters<typeof findPartners>[1]['after'];
  do {
    const { rows, stoppedAt } = await findPartners(database, { userId: own.id, after, limit: 5 }, 3);
    found.push(...rows.map(({ store }) => store.id));
    after = stoppedAt;
    pages += 1;
  } while (after && pages < 10);
  t.strictSame(found, partnersIn(await listPartners(app, own)));
  t.ok(pages > 2, `${pages} pages`);
});
