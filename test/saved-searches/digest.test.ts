import t from 'tap';
import { takeWaitingMatches } from '../../src/domains/notifications/inbox/repository.ts';
import { raw, sql } from '../../src/infrastructure/database/sql.ts';
import { createVerifiedUser } from '../auth/mailbox.ts';
import { notificationsIn, setPreferences } from '../notifications/notified.ts';
import { createTestApp, createUser } from '../support/app.ts';
import { inParallel } from '../support/concurrency.ts';
import { openTestDatabase } from '../support/database.ts';
import { notificationsOf } from '../support/partner-requests.ts';
import { createPost, openShop } from '../support/stores.ts';
import { savedSearchesIn, today } from './searching.ts';

const app = await createTestApp({ QUOTA_POSTS_PER_DAY: '0' });
const { mails, pool } = app;
const { search, matched, matchesOf, run, pinDay } = savedSearchesIn(app);
const bakery = await openShop(app, '해님 빵집');

async function searcher(q: string, preferences?: object) {
  const user = await createVerifiedUser(app);
  if (preferences) await setPreferences(app, user, preferences);
  await pinDay(user.id);
  await search(user, { q });
  return user;
}

/** Publishes posts, and waits until users were notified of them. */
async function publish(count: number, title: string) {
  await inParallel(count, (n) => createPost(app, bakery.token, { title: `${title} ${n}` }));
  await matched();
}

const sendDigests = () => run('send_saved_search_digests');

const digestsOf = async (user: { token: string }, language = 'ko') => {
  const { items } = await notificationsOf(app, user, '?limit=100', { 'accept-language': language });
  return items.filter(({ kind }: { kind: string }) => kind === 'saved_search_digest');
};

/** Lets a day pass for a user. */
const nextDay = ({ id }: { id: number }) =>
  pool.query(`UPDATE notification_counts SET match_day = ${today} - 1, digest_day = digest_day - 1
    WHERE user_id = ${id}`);

t.test('what matches beyond 20 posts a day is one notification a day', async (t) => {
  const user = await searcher('소금빵');
  await publish(22, '소금빵');
  t.equal((await matchesOf(user))[0]?.length, 20);
  const { unread_count: unread } = await notificationsOf(app, user);
  t.equal(unread, 20);
  t.strictSame(await digestsOf(user), []);

  await sendDigests();
  const counts = (await digestsOf(user)).map(({ count }: { count: number }) => count);
  t.strictSame(counts, [2]);
  t.match((await digestsOf(user, 'en'))[0].message, 'There are 2 more new posts for your saved searches.');
  t.equal((await notificationsOf(app, user)).unread_count, 21);

  await publish(1, '소금빵');
  await nextDay(user);
  await publish(1, '소금빵');
  t.equal((await matchesOf(user))[0]?.length, 21, 'another day');
  await sendDigests();
  t.match(await digestsOf(user), [{ count: 1 }, { count: 2 }], 'those that waited');
  await nextDay(user);
  await sendDigests();
  t.equal((await digestsOf(user)).length, 2, 'no digest of nothing');
});

t.test('emails about the digest are those about matches: switched on, and after quiet hours', async (t) => {
  const email = { saved_search_match: true };
  const user = await searcher('단팥빵', { email });
  const quiet_hours = { from: '00:00', to: '23:59' };
  const waiting = await searcher('단팥빵', { email, quiet_hours, language: 'en' });
  const without = await searcher('단팥빵');
  await publish(1, '단팥빵');
  await mails.next(user.email);
  for (const { id } of [user, waiting, without]) await pinDay(id, 20);
  await publish(3, '단팥빵');
  await sendDigests();
  const mail = await mails.next(user.email, 1);
  t.equal(mail.subject, '[두레] 저장하신 검색에 맞는 새 글이 3건 더 올라왔습니다');
  t.match(mail.text, /https:\/\/app\.example\.com\/$/m);
  t.match(mail.headers?.['List-Unsubscribe'], /^</);
  await setPreferences(app, waiting, { quiet_hours: null });
  const subjects = [(await mails.next(waiting.email)).subject, (await mails.next(waiting.email, 1)).subject];
  t.same(subjects.filter((subject) => subject.includes('more new posts')).length, 1, subjects.join());
  await mails.settled();
  t.notOk(mails.sent.some(({ to }) => to === without.email));
});

t.test('unread notifications of saved searches are deleted after MATCH_TTL, and count no more', async (t) => {
  const [user, recent] = [await searcher('통밀빵'), await searcher('통밀빵')];
  await publish(3, '통밀빵');
  const { items } = await notificationsOf(app, user);
  await notificationsIn(app).markRead(user, { ids: [items[0].id] });
  const waits = 'matches = 20, waiting_matches = 7';
  await pool.query(`UPDATE notification_counts SET ${waits} WHERE user_id = ${user.id}`);
  await sendDigests();
  const age = ({ id }: { id: number }, days: number) =>
    pool.query(`UPDATE notifications SET created_at = now() - interval '${days} days' WHERE user_id = ${id}`);
  await age(user, 31);
  await age(recent, 29);
  await run('clean_up');
  const left = await notificationsOf(app, user);
  t.match(left, { items: [{ id: items[0].id, is_read: true }], unread_count: 0 });
  t.equal(left.items.length, 1);
  t.match(await notificationsOf(app, recent), { items: { length: 3 }, unread_count: 3 });
});

t.test('a digest is once a day, which begins at 19:00 in Korea', async (t) => {
  const { id } = await createUser(app);
  await pinDay(id);
  const database = openTestDatabase(t, app.url);
  await database.transaction(async (tx) => {
    // A `now()` that is found before that of PostgreSQL.
    await tx.execute(sql`CREATE SCHEMA clock`);
    await tx.execute(sql`SET LOCAL search_path = clock, pg_catalog, public`);
    for (const [time, isDue] of [
      ['2026-11-26T19:00:00', true],
      ['2026-11-26T23:59:59', false],
      // A digest that is late belongs to the day before.
      ['2026-11-27T03:00:00', false],
      ['2026-11-27T18:59:59', false],
      ['2026-11-27T19:00:00', true],
      ['2026-11-29T03:00:00', true],
      ['2026-11-29T19:00:00', true],
    ] as const) {
      const now = `FUNCTION clock.now() RETURNS timestamptz STABLE RETURN timestamptz '${time}+09'`;
      await tx.execute(raw(`CREATE OR REPLACE ${now}`));
      await tx.execute(sql`UPDATE notification_counts SET waiting_matches = 2 WHERE user_id = ${id}`);
      const taken = (await takeWaitingMatches(tx)).filter(({ userId }) => userId === id);
      t.strictSame(taken, isDue ? [{ userId: id, matches: 2 }] : [], time);
    }
    await tx.execute(sql`DROP SCHEMA clock CASCADE`);
  });
});
