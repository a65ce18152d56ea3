import t from 'tap';
import { createTestApp } from '../support/app.ts';
import { notificationsOf, openTwoShops, sendRequest } from '../support/partner-requests.ts';
import { createPost } from '../support/stores.ts';

const app = await createTestApp();

t.test('pages that are read together are those that were asked for', async (t) => {
  const { sender, receiver } = await openTwoShops(app);
  for (let index = 0; index < 4; index++) {
    const post = await createPost(app, receiver.token, { title: `글 ${index}` });
    await sendRequest(app, sender, post);
  }
  const post = await createPost(app, sender.token);
  await sendRequest(app, receiver, post);
  const { items, next_cursor } = await notificationsOf(app, receiver, '?limit=3');
  const ids = (await notificationsOf(app, receiver)).items.map(({ id }: { id: number }) => id);
  await app.call('POST', '/api/v1/notifications/mark-read/', {
    token: receiver.token,
    body: { ids: ids.slice(0, 1) },
  });
  const asked = [
    [receiver, '', ids, 3],
    [receiver, '?limit=2', ids.slice(0, 2), 3],
    [sender, '', undefined, 1],
    [receiver, `?cursor=${next_cursor}`, ids.slice(3), 3],
    [receiver, '?is_read=true', ids.slice(0, 1), 3],
    [receiver, '?is_read=false&limit=1', ids.slice(1, 2), 3],
  ] as const;
  t.equal(items.length, 3);
  // More than are read with one statement.
  const pages = await Promise.all(
    [...asked, ...asked].map(([shop, query]) => notificationsOf(app, shop, query)),
  );
  for (const [index, [, query, expected, unread]] of [...asked, ...asked].entries()) {
    const page = pages[index];
    t.equal(page.unread_count, unread, query);
    if (expected)
      t.strictSame(
        page.items.map(({ id }: { id: number }) => id),
        expected,
        query,
      );
    else t.match(page.items, [{ partner_request: { receiver_store_id: sender.store.id } }]);
  }
});
