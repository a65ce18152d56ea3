import t from 'tap';
import { createNotificationRepository } from '../../src/domains/notifications/inbox/repository.ts';
import { createTestApp } from '../support/app.ts';
import { openTestDatabase } from '../support/database.ts';
import { cleanUp } from '../support/images.ts';
import { notificationsOf, sendRequest } from '../support/partner-requests.ts';
import { createPost } from '../support/stores.ts';
import { notificationsIn } from './notified.ts';

const app = await createTestApp({ NOTIFICATION_TTL: '30d' });
const { idsOf, markRead, notified } = notificationsIn(app);

/** A user with so many notifications of 40 days ago and one of now, each read; and one of 40 days ago that is not. */
async function notifiedLongAgo(old: number) {
  const { sender, receiver } = await notified(old);
  const read = () => markRead(receiver, { up_to_id: Number.MAX_SAFE_INTEGER });
  const notify = async () => sendRequest(app, sender, await createPost(app, receiver.token));
  const age = (which: 'is_read' | 'NOT is_read') =>
    app.pool.query(`UPDATE notifications SET created_at = now() - interval '40 days'
      WHERE ${which} AND user_id = ${receiver.id}`);
  await read();
  await age('is_read');
  await notify();
  await read();
  await notify();
  await age('NOT is_read');
  return receiver;
}

t.test('read notifications are deleted after NOTIFICATION_TTL, in the partition of each user', async (t) => {
  // Of several partitions.
  const receivers = [await notifiedLongAgo(3), await notifiedLongAgo(2), await notifiedLongAgo(1)];
  const before = await Promise.all(receivers.map((receiver) => idsOf(receiver)));
  await cleanUp(app);
  for (const [index, receiver] of receivers.entries()) {
    const ids = before[index] ?? [];
    t.strictSame(await idsOf(receiver), ids.slice(0, 2), 'those of now, and those that are unread');
    t.strictSame(await idsOf(receiver, '?is_read=true'), ids.slice(1, 2));
    t.equal((await notificationsOf(app, receiver)).unread_count, 1);
  }
});

t.test('with NOTIFICATION_TTL=0 they are kept', async (t) => {
  const receiver = await notifiedLongAgo(1);
  const before = await idsOf(receiver);
  const { deleteOld } = createNotificationRepository(openTestDatabase(t, app.url), { wake: () => undefined });
  for await (const _ of deleteOld('read', 0)) t.fail('a step');
  t.strictSame(await idsOf(receiver), before);
});
