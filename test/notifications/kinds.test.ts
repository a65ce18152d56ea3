import t from 'tap';
import { savedSearchesIn } from '../saved-searches/searching.ts';
import { createTestApp } from '../support/app.ts';
import { notificationsOf, openTwoShops, sendRequest } from '../support/partner-requests.ts';
import { createPost } from '../support/stores.ts';
import { notificationsIn } from './notified.ts';

const app = await createTestApp();
const { search, matched, remove } = savedSearchesIn(app);
const { markRead } = notificationsIn(app);
const images = ['https://cdn.example.com/a.jpg'];

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
  t.equal(
    english.items[0].message,
    '두레 베이커리 published “같이 만드는 달력”, which matches your saved search.',
  );

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
      .map(({ post, store, saved_search_id }: { post: object; store: object; saved_search_id: number }) => ({
        ...post,
        store,
        saved_search_id,
      }))
      .sort((a: { id: number }, b: { id: number }) => a.id - b.id);
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
