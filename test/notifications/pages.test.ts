import t from 'tap';
import { createTestApp } from '../support/app.ts';
import { notificationsOf, sendRequest } from '../support/partner-requests.ts';
import { createPost } from '../support/stores.ts';
import { notificationsIn } from './notified.ts';

const app = await createTestApp();
const { idsOf, markRead, notified } = notificationsIn(app);

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
    const { items, unread_count } = pages[index];
    t.strictSame([items.map(({ id }: { id: number }) => id), unread_count], [expected, unread], query);
  }
});
