import t from 'tap';
import { createTestApp, createUser, verifyEmails } from '../support/app.ts';
import { inParallel } from '../support/concurrency.ts';
import { notificationsOf } from '../support/partner-requests.ts';
import { createPost, openShop } from '../support/stores.ts';
import { until } from '../support/until.ts';
import { savedSearchesIn } from './searching.ts';

const app = await createTestApp({ QUOTA_POSTS_PER_DAY: '0' });
const { call, mails, pool } = app;
const { search, matched, matchesOf } = savedSearchesIn(app);
const bakery = await openShop(app, '해님 빵집');

const preferences = '/api/v1/notifications/preferences/';

async function searcher(q: string, changes?: object) {
  const user = await createUser(app);
  await verifyEmails(app, user);
  if (changes) {
    const { status, text } = await call('PATCH', preferences, { token: user.token, body: changes });
    t.equal(status, 200, text);
  }
  await search(user, { q });
  return user;
}

/** Publishes posts, and waits until users were notified of them. */
async function publish(count: number, title: string) {
  await inParallel(count, (n) => createPost(app, bakery.token, { title: `${title} ${n}` }));
  await matched();
}

/** Runs a job that has no payload. */
async function run(task: string) {
  await pool.query('SELECT graphile_worker.add_job($1)', [task]);
  await until(task, async () => {
    const { rowCount } = await pool.query('SELECT FROM graphile_worker.jobs WHERE task_identifier = $1', [
      task,
    ]);
    return rowCount === 0;
  });
}

const sendDigests = () => run('send_saved_search_digests');

const digestsOf = async (user: { token: string }, language = 'ko') => {
  const { body } = await call('GET', '/api/v1/notifications/mypage/?limit=100', {
    token: user.token,
    headers: { 'accept-language': language },
  });
  return body.data.items.filter(({ kind }: { kind: string }) => kind === 'saved_search_digest');
};

/** Lets a day pass for a user. */
const nextDay = ({ id }: { id: number }) =>
  pool.query(
    'UPDATE notification_counts SET match_day = match_day - 1, digest_day = digest_day - 1 WHERE user_id = $1',
    [id],
  );

t.test('what matches beyond 20 posts a day is one notification a day', async (t) => {
  const user = await searcher('소금빵');
  await publish(22, '소금빵');
  t.equal((await matchesOf(user))[0]?.length, 20);
  const { unread_count: unread } = await notificationsOf(app, user);
  t.equal(unread, 20);
  t.strictSame(await digestsOf(user), []);

  await sendDigests();
  const [digest, ...others] = await digestsOf(user);
  const { id, created_at, ...shown } = digest;
  t.strictSame(others, []);
  t.strictSame(shown, {
    kind: 'saved_search_digest',
    message: '저장하신 검색 조건에 맞는 새 글이 2건 더 올라왔습니다.',
    is_read: false,
    count: 2,
  });
  t.match((await digestsOf(user, 'en'))[0].message, 'There are 2 more new posts for your saved searches.');
  t.equal((await notificationsOf(app, user)).unread_count, 21);

  await publish(1, '소금빵');
  await sendDigests();
  t.equal((await digestsOf(user)).length, 1, 'once a day');

  await nextDay(user);
  await publish(1, '소금빵');
  t.equal((await matchesOf(user))[0]?.length, 21, 'another day');
  await sendDigests();
  t.match(await digestsOf(user), [{ count: 1 }, { count: 2 }], 'those that waited');
  await nextDay(user);
  await sendDigests();
  t.equal((await digestsOf(user)).length, 2, 'no digest of nothing');
});

t.test('of posts at the same time, each counts', async (t) => {
  const user = await searcher('호밀빵');
  await publish(19, '호밀빵');
  await publish(6, '호밀빵');
  t.equal((await matchesOf(user))[0]?.length, 20);
  await sendDigests();
  t.match(await digestsOf(user), [{ count: 5 }]);
});

t.test('emails about the digest are those about matches: switched on, and after quiet hours', async (t) => {
  const email = { saved_search_match: true };
  const user = await searcher('단팥빵', { email });
  const waiting = await searcher('단팥빵', {
    email,
    quiet_hours: { from: '00:00', to: '23:59' },
    language: 'en',
  });
  const without = await searcher('단팥빵');
  await publish(1, '단팥빵');
  const ids = [user, waiting, without].map(({ id }) => id);
  await pool.query('UPDATE notification_counts SET matches = 20 WHERE user_id = ANY ($1)', [ids]);
  await publish(3, '단팥빵');
  await sendDigests();
  const mail = await mails.next(user.email, 1);
  t.equal(mail.subject, '[두레] 저장하신 검색에 맞는 새 글이 3건 더 올라왔습니다');
  t.match(mail.text, /https:\/\/app\.example\.com\/$/m);
  t.match(mail.headers?.['List-Unsubscribe'], /^</);
  await call('PATCH', preferences, { token: waiting.token, body: { quiet_hours: null } });
  const subjects = [(await mails.next(waiting.email)).subject, (await mails.next(waiting.email, 1)).subject];
  t.same(subjects.filter((subject) => subject.includes('more new posts')).length, 1, subjects.join());
  await mails.settled();
  t.strictSame(
    mails.sent.filter(({ to }) => to === without.email),
    [],
  );
});

t.test('unread notifications of saved searches are deleted after MATCH_TTL, and count no more', async (t) => {
  const [user, recent] = [await searcher('통밀빵'), await searcher('통밀빵')];
  await publish(3, '통밀빵');
  const { items } = await notificationsOf(app, user);
  await call('POST', '/api/v1/notifications/mark-read/', { token: user.token, body: { ids: [items[0].id] } });
  await pool.query('UPDATE notification_counts SET matches = 20, waiting_matches = 7 WHERE user_id = $1', [
    user.id,
  ]);
  await sendDigests();
  await pool.query("UPDATE notifications SET created_at = now() - interval '31 days' WHERE user_id = $1", [
    user.id,
  ]);
  await pool.query("UPDATE notifications SET created_at = now() - interval '29 days' WHERE user_id = $1", [
    recent.id,
  ]);
  await run('clean_up');
  const left = await notificationsOf(app, user);
  t.match(left, { items: [{ id: items[0].id, is_read: true }], unread_count: 0 });
  t.equal(left.items.length, 1);
  t.match(await notificationsOf(app, recent), { items: { length: 3 }, unread_count: 3 });
});

t.test(
  'a digest that is late belongs to the day before, and what began yesterday counts for today',
  async (t) => {
    const user = await searcher('쌀빵');
    await publish(1, '쌀빵');
    const korean = "now() AT TIME ZONE 'Asia/Seoul'";
    const change = (columns: string) =>
      pool.query(`UPDATE notification_counts SET ${columns} WHERE user_id = $1`, [user.id]);
    // As of a transaction that began after midnight, before this one that began before it.
    await change(`match_day = (${korean})::date + 1, matches = 20`);
    await publish(1, '쌀빵');
    t.equal((await matchesOf(user))[0]?.length, 1);
    // The last digest was due at the last 19:00.
    await change(`digest_day = (${korean} - interval '19 hours')::date`);
    await sendDigests();
    t.strictSame(await digestsOf(user), []);
    await change(`digest_day = (${korean} - interval '43 hours')::date`);
    await sendDigests();
    t.match(await digestsOf(user), [{ count: 1 }]);
  },
);
