import { items, pages } from '@dure/client';
import t from 'tap';
import { caught, images, openShop, startService } from './clients.ts';

const service = await startService(t);
const { dure, wire, store } = await openShop(service, '두레 카페');
const titles = ['가', '나', '다', '라', '마'];
for (const title of titles) await dure.createPost({ title, content: '내용', images });
const newestFirst = titles.toReversed();

t.beforeEach(() => {
  wire.sent.length = 0;
  wire.before = () => undefined;
});

t.test('all entries of all pages, in order', async (t) => {
  const found: string[] = [];
  for await (const post of items(dure.listPosts, { store_id: store.id, limit: 2 })) found.push(post.title);
  t.same(found, newestFirst);
  t.equal(wire.sent.length, 3);
  t.ok(
    wire.sent.every(({ path }) => path.includes(`store_id=${store.id}`)),
    'each page has the filter',
  );

  const sizes: number[] = [];
  for await (const page of pages(dure.listPosts, { mine: true, limit: 2 })) sizes.push(page.items.length);
  t.same(sizes, [2, 2, 1]);
});

t.test('pages are read as needed', async (t) => {
  for await (const post of items(dure.listPosts, { mine: true, limit: 2 })) if (post.title === '라') break;
  t.equal(wire.sent.length, 1);
});

t.test('short and empty pages are not the end', async (t) => {
  // As a search that found nothing among the rows that one request examines.
  wire.before = async ({ path, headers }) => {
    const answer = await fetch(service.baseUrl + path, { headers });
    const body: { data: { items: unknown[] } } = JSON.parse(await answer.text());
    if (wire.sent.length === 1) body.data.items = [];
    if (wire.sent.length === 2) body.data.items.pop();
    return Response.json(body);
  };
  const found: string[] = [];
  for await (const post of items(dure.listPosts, { mine: true, limit: 2 })) found.push(post.title);
  t.same(found, ['다', '가']);
  t.equal(wire.sent.length, 3);
});

t.test('a failure ends the iteration', async (t) => {
  const iterator = items(dure.listPosts, { cursor: 'broken' });
  t.match(await caught(iterator.next()), { code: 'invalid_cursor' });
  t.same(await iterator.next(), { done: true, value: undefined });
});
