import t from 'tap';
import { createNotificationRepository } from '../../src/domains/notifications/inbox/repository.ts';
import { createTestApp } from '../support/app.ts';
import { openTestDatabase } from '../support/database.ts';
import { cleanUp } from '../support/images.ts';
import {
  becomePartners,
  notificationsOf,
  notifiedOf,
  openTwoShops,
  readRequest,
  requestsPath,
  sendRequest,
  transition,
} from '../support/partner-requests.ts';
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

t.test('the message of a request that came to an end is erased a year later', async (t) => {
  const { sender, receiver } = await openTwoShops(app);
  const newPost = () => createPost(app, receiver.token);
  const accepted = async () => becomePartners(app, { sender, receiver, post: await newPost() });
  const sent = async () => sendRequest(app, sender, await newPost());
  const ids = {
    종료됨: await accepted(),
    거절됨: await sent(),
    취소됨: await sent(),
    수락됨: await accepted(),
    요청됨: await sent(),
  };
  await transition(app, sender, ids.종료됨, 'end');
  await transition(app, receiver, ids.거절됨, 'decline');
  await transition(app, sender, ids.취소됨, 'withdraw');
  const age = (days: number) =>
    app.pool.query(`UPDATE partner_requests SET updated_at = now() - make_interval(days => $1)`, [days]);
  const messages = async () => {
    const { items } = (await app.call('GET', `${requestsPath}?box=sent`, { token: sender.token })).body.data;
    return Object.fromEntries(
      items.map(({ status, message }: { status: string; message: string }) => [status, message]),
    );
  };
  const before = await messages();
  await age(364);
  await cleanUp(app);
  t.strictSame(await messages(), before, 'not before');
  await age(367);
  await cleanUp(app);
  t.strictSame(await messages(), { ...before, 종료됨: '', 거절됨: '', 취소됨: '' });
  const { body } = await readRequest(app, receiver, ids.거절됨);
  t.match(body.data, { status: '거절됨', message: '' });
  t.not(body.data.updated_at.slice(0, 10), new Date().toISOString().slice(0, 10), 'that is not a change');
  t.equal((await notifiedOf(app, receiver)).length, 7, 'its notifications stay');
  const { items } = await notificationsOf(app, sender);
  t.match(items[0].partner_request, { id: ids.거절됨, message: '' });
});

t.test('a message is empty only at the end of a request', async (t) => {
  const { sender, receiver, post } = await openTwoShops(app);
  const id = await sendRequest(app, sender, post);
  const erase = () => app.pool.query(`UPDATE partner_requests SET message = '' WHERE id = $1`, [id]);
  await t.rejects(erase(), /partner_requests_message_check/);
  await transition(app, receiver, id, 'decline');
  await t.resolves(erase());
});
