import t from 'tap';
import { savedSearchesIn } from '../saved-searches/searching.ts';
import { createTestApp, createUser } from '../support/app.ts';
import { invalid } from '../support/assertions.ts';
import { during } from '../support/concurrency.ts';
import type { Json } from '../support/json.ts';
import { notificationsOf, openTwoShops, sendRequest, transition } from '../support/partner-requests.ts';
import { createPost, openShop, type Shop } from '../support/stores.ts';
import { notificationsIn } from './notified.ts';

const app = await createTestApp();
const { idsOf, markRead, notified } = notificationsIn(app);
const { search, matched, remove } = savedSearchesIn(app);
const images = ['https://cdn.example.com/a.jpg'];

const idsIn = ({ items }: { items: { id: number }[] }) => items.map(({ id }) => id);

t.test("the message of a notification is in the caller's language", async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  const english = { 'accept-language': 'en' };
  const sentence = async (shop: Shop, headers = {}) =>
    (await notificationsOf(app, shop, '', headers)).items[0].message;
  const id = await sendRequest(app, sender, post);
  const received = '두레 베이커리 would like to partner with you on your post “주말 공동 할인”.';
  t.equal(await sentence(receiver, english), received);
  await transition(app, receiver, id, 'accept');
  const accepted = '햇살카페 accepted your partnership request for “주말 공동 할인”.';
  t.equal(await sentence(sender, english), accepted);
  await transition(app, receiver, await sendTo('$1 {{title}} <b>'), 'decline');
  const declined = '햇살카페 declined your partnership request for “$1 {{title}} <b>”.';
  t.equal(await sentence(sender, english), declined, 'titles are plain text');
  await transition(app, sender, await sendTo('셋째'), 'withdraw');
  t.equal(await sentence(receiver, english), '두레 베이커리 withdrew its request for your post “셋째”.');
  const last = await createPost(app, receiver.token, { title: '넷째' });
  await sendRequest(app, sender, last);
  await app.call('DELETE', `/api/v1/posts/${last.id}/`, { token: receiver.token });
  const deleted = 'Your partnership request for “넷째” was withdrawn because 햇살카페 deleted the post.';
  t.equal(await sentence(sender, english), deleted);
  t.equal(await sentence(sender), '햇살카페에서 올린 ‘넷째’ 글이 삭제되어 제휴 요청이 취소되었습니다.');

  async function sendTo(title: string) {
    return sendRequest(app, sender, await createPost(app, receiver.token, { title }));
  }
});

t.test('pages go from the newest to the oldest while notifications are added and removed', async (t) => {
  const { sender, receiver, ids } = await notified(6);
  const first = await notificationsOf(app, receiver, '?limit=2');
  t.strictSame(idsIn(first), ids.slice(0, 2));
  t.equal(first.unread_count, 6);
  await sendRequest(app, sender, await createPost(app, receiver.token));
  await app.pool.query('DELETE FROM notifications WHERE id = ANY ($1)', [[ids[1], ids[2]]]);
  const second = await notificationsOf(app, receiver, `?limit=2&cursor=${first.next_cursor}`);
  t.strictSame(idsIn(second), ids.slice(3, 5));
  const third = await notificationsOf(app, receiver, `?limit=2&cursor=${second.next_cursor}`);
  t.strictSame(idsIn(third), ids.slice(5));
  t.equal(third.next_cursor, null);
  t.equal(third.unread_count, 7, 'counts all pages');
});

t.test('pages that are read together are those that were asked for', async (t) => {
  const { sender, receiver, ids } = await notified(4);
  await sendRequest(app, receiver, await createPost(app, sender.token));
  const ofSender = await idsOf(sender);
  const { next_cursor } = await notificationsOf(app, receiver, '?limit=3');
  await markRead(receiver, { ids: ids.slice(0, 1) });
  const asked = [
    [receiver, '', ids, 3],
    [receiver, '?limit=2', ids.slice(0, 2), 3],
    [sender, '', ofSender, 1],
    [receiver, `?cursor=${next_cursor}`, ids.slice(3), 3],
    [receiver, '?is_read=true', ids.slice(0, 1), 3],
    [receiver, '?is_read=false&limit=1', ids.slice(1, 2), 3],
    [receiver, `?is_read=false&cursor=${next_cursor}`, ids.slice(3), 3],
  ] as const;
  // More than are read with one statement.
  const twice = [...asked, ...asked];
  const pages = await Promise.all(twice.map(([shop, query]) => notificationsOf(app, shop, query)));
  for (const [index, [, query, expected, unread]] of twice.entries()) {
    t.strictSame([idsIn(pages[index]), pages[index].unread_count], [expected, unread], query);
  }
});

t.test('marking ids as read is idempotent; ids of others and unknown ones are not counted', async (t) => {
  const { receiver, ids } = await notified(4);
  const stranger = await openShop(app, '다른 가게');
  const nothing = { updated_count: 0, unread_count: 0 };
  t.strictSame((await markRead(stranger, { ids })).body.data, nothing);
  t.strictSame((await markRead(stranger, { up_to_id: Number.MAX_SAFE_INTEGER })).body.data, nothing);
  t.strictSame(await idsOf(receiver, '?is_read=false'), ids);
  const some = { ids: [ids[2], ids[0], ids[2], 1, Number.MAX_SAFE_INTEGER] };
  t.strictSame((await markRead(receiver, some)).body.data, { updated_count: 2, unread_count: 2 });
  t.strictSame((await markRead(receiver, some)).body.data, { updated_count: 0, unread_count: 2 });
  t.strictSame(await idsOf(receiver, '?is_read=true'), [ids[0], ids[2]]);
});

t.test('up_to_id marks a notification and all older ones', async (t) => {
  const { receiver, ids } = await notified(4);
  const upTo = { up_to_id: ids[1] };
  t.strictSame((await markRead(receiver, upTo)).body.data, { updated_count: 3, unread_count: 1 });
  t.strictSame((await markRead(receiver, upTo)).body.data, { updated_count: 0, unread_count: 1 });
  t.strictSame(await idsOf(receiver, '?is_read=false'), [ids[0]]);
  const all = { up_to_id: Number.MAX_SAFE_INTEGER };
  t.strictSame((await markRead(receiver, all)).body.data, { updated_count: 1, unread_count: 0 });
});

t.test('marking as read takes either ids or up_to_id', async (t) => {
  const user = await createUser(app);
  const { ids } = invalid(t, await markRead(user, { ids: [1], up_to_id: 1 }), 'ids', 'up_to_id');
  t.strictSame(ids, ['ids와 up_to_id를 함께 보낼 수 없습니다. 둘 중 하나만 보내 주세요.']);
});

const count = (shop: Shop, headers: Record<string, string> = {}) =>
  app.call('GET', '/api/v1/notifications/unread-count/', { token: shop.token, headers });

t.test('a client that knows the count gets 304 without a body until it changes', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  const first = await count(receiver);
  t.match(first.body, { message: '읽지 않은 알림 수를 조회했습니다.', data: { unread_count: 0 } });
  const tag = String(first.headers.etag);
  t.match(tag, /^"[^"]+"$/);
  const lists = [`"other", ${tag}`, `W/"other" ,W/${tag}`, `"a,b",${tag}`];
  const headers = { etag: tag, 'cache-control': 'private, no-cache', vary: first.headers.vary };
  for (const known of [tag, `W/${tag}`, ...lists, '*', ' * '])
    t.match(await count(receiver, { 'if-none-match': known }), { status: 304, text: '', headers }, known);
  for (const unknown of ['"other"', tag.slice(1, -1), `${tag.slice(0, -1)}x"`, 'W/"*"', '']) {
    t.equal((await count(receiver, { 'if-none-match': unknown })).status, 200, unknown);
  }
  const english = await count(receiver, { 'if-none-match': tag, 'accept-language': 'en' });
  t.match([english.status, english.body?.message], [200, 'Here is the unread count.']);
  t.not(english.headers.etag, tag, 'it depends on the language');
  await sendRequest(app, sender, post);
  const changed = await count(receiver, { 'if-none-match': tag });
  t.match(changed, { status: 200, body: { data: { unread_count: 1 } } });
  t.not(changed.headers.etag, tag);
  t.equal((await count(sender)).body.data.unread_count, 0);
});

t.test('both kinds are in one list, are counted together and stay the same when they are read', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  const searchId = await search(receiver, { q: '같이 만드는 달력' });
  await sendRequest(app, sender, post);
  const found = await createPost(app, sender.token, { title: '같이 만드는 달력', images });
  await matched();
  const { items, unread_count } = await notificationsOf(app, receiver);
  t.equal(unread_count, 2);
  const [match, request] = items;
  t.match(request, { kind: 'partner_request_received', partner_request: { post_id: post.id } });
  t.strictSame(match, {
    id: match.id,
    kind: 'saved_search_match',
    message: '두레 베이커리에서 저장하신 검색 조건에 맞는 ‘같이 만드는 달력’ 글을 올렸습니다.',
    is_read: false,
    created_at: match.created_at,
    post: { id: found.id, title: found.title, thumbnail: found.thumbnail, created_at: found.created_at },
    store: found.store,
    saved_search_id: searchId,
  });
  const english = await notificationsOf(app, receiver, '', { 'accept-language': 'en' });
  const sentence = '두레 베이커리 published “같이 만드는 달력”, which matches your saved search.';
  t.equal(english.items[0].message, sentence);

  t.match((await markRead(receiver, { ids: [match.id] })).body.data, { updated_count: 1, unread_count: 1 });
  t.strictSame((await notificationsOf(app, receiver, '?is_read=false')).items, [request]);
  t.strictSame((await notificationsOf(app, receiver, '?is_read=true')).items, [{ ...match, is_read: true }]);
  await markRead(receiver, { up_to_id: match.id });
  t.strictSame((await notificationsOf(app, receiver)).items, [
    { ...match, is_read: true },
    { ...request, is_read: true },
  ]);
});

t.test('of a post that is gone, title and store stay', async (t) => {
  const { sender, receiver } = await openTwoShops(app);
  const searchId = await search(receiver, { q: '같이 굽는 쿠키' });
  const kept = await createPost(app, sender.token, { title: '같이 굽는 쿠키', images: [] });
  const hidden = await createPost(app, sender.token, { title: '같이 굽는 쿠키', images });
  await matched();
  await remove(receiver, searchId);
  const show = async () =>
    (await notificationsOf(app, receiver)).items
      .map(({ post, store, saved_search_id }: Json) => ({ ...post, store, saved_search_id }))
      .sort((a: Json, b: Json) => a.id - b.id);
  const { thumbnail } = kept;
  t.match(await show(), [{ thumbnail }, { thumbnail: images[0], saved_search_id: searchId }]);
  const gone = [
    { id: kept.id, thumbnail },
    { id: hidden.id, title: '같이 굽는 쿠키', thumbnail, store: hidden.store, saved_search_id: searchId },
  ];
  await app.pool.query('UPDATE posts SET hidden_at = now() WHERE id = $1', [hidden.id]);
  t.match(await show(), gone);
  await app.pool.query('UPDATE posts SET hidden_at = NULL WHERE id = $1', [hidden.id]);
  await app.pool.query('UPDATE stores SET suspended_at = now() WHERE id = $1', [sender.store.id]);
  t.match(await show(), gone);
  await app.pool.query('UPDATE stores SET suspended_at = NULL WHERE id = $1', [sender.store.id]);
  await app.call('DELETE', `/api/v1/posts/${hidden.id}/`, { token: sender.token });
  t.match(await show(), gone);
});

t.test('what waits while a migration adds a column responds as before', async (t) => {
  const app = await createTestApp({}, { isolated: true });
  const { sender, receiver, post } = await openTwoShops(app);
  await sendRequest(app, sender, post);
  for (const [path, table] of [
    ['notifications/mypage/', 'notifications'],
    ['notifications/mypage/', 'partner_requests'],
    ['notifications/unread-count/', 'notification_counts'],
    ['notifications/partner-request/', 'partner_requests'],
    ['posts/', 'posts'],
    ['posts/?q=%ED%95%A0', 'posts'],
    [`posts/${post.id}/`, 'stores'],
    ['stores/', 'stores'],
    ['stores/mypage/', 'partner_requests'],
    ['saved-searches/', 'saved_searches'],
  ]) {
    const read = () => app.call('GET', `/api/v1/${path}`, { token: receiver.token });
    const before = await read();
    const add = `ALTER TABLE ${table} ADD COLUMN added_${app.logs.length} int`;
    t.strictSame((await during(t, app, [add], read)).body, before.body, `${path} and ${table}`);
  }
});
