import process from 'node:process';
import t, { type Test } from 'tap';
import { listJobs } from '../../src/infrastructure/jobs/jobs.ts';
import { createVerifiedUser, mailsTo } from '../auth/mailbox.ts';
import { setPreferences } from '../notifications/notified.ts';
import { createTestApp, createUser, deleteAccount, relayed, suspend } from '../support/app.ts';
import { invalid, rejected, tally } from '../support/assertions.ts';
import { inOrder, inParallel, lockRows, onInsert } from '../support/concurrency.ts';
import { openTestDatabase } from '../support/database.ts';
import { countRows } from '../support/rows.ts';
import { createPost, openShop } from '../support/stores.ts';
import { until } from '../support/until.ts';
import { savedSearchesIn } from './searching.ts';

const app = await createTestApp();
const { call, mails, pool } = app;
const { save, list, remove, search, matched, matchAgain, matchesOf } = savedSearchesIn(app);

const none = { q: null, category_id: null, region: null, near: null, radius_m: null };

t.test('a search is saved as it was given, and listed newest first, to its user only', async (t) => {
  const user = await createUser(app);
  const place = { region: '망원 동', near: '37.5501,126.91', radius_m: 500 };
  const filters = { q: '공동 할인', category_id: 1, ...place };
  const { body } = await save(user, { name: '  우리 동네 ', ...filters });
  const { id, created_at } = body.data;
  t.strictSame(body.data, { id, name: '우리 동네', ...filters, created_at });

  const other = await save(user, { name: '꽃', q: '꽃다발' });
  t.match(other.body.data, { ...none, name: '꽃', q: '꽃다발' });
  t.strictSame((await list(user)).body.data, { items: [other.body.data, body.data], next_cursor: null });
  const page = (await list(user, '?limit=1')).body.data;
  t.strictSame(page.items, [other.body.data]);
  const rest = await list(user, `?limit=1&cursor=${page.next_cursor}`);
  t.strictSame(rest.body.data, { items: [body.data], next_cursor: null });
  t.strictSame((await list(await createUser(app))).body.data.items, []);
});

t.test('a search that cannot be used is rejected', async (t) => {
  const user = await createUser(app);
  const wrong: [body: object, field: string, code: string][] = [
    [{}, 'q', 'required'],
    [{ category_id: 999 }, 'category_id', 'not_found'],
    [{ radius_m: 500 }, 'radius_m', 'not_allowed'],
    [{ near: '91,127' }, 'near', 'invalid_format'],
  ];
  for (const [body, field, code] of wrong) {
    const response = await save(user, { name: '검색', ...body });
    // Texts of `not_allowed` that name no values have no parameters.
    if (code !== 'not_allowed') invalid(t, response, field);
    t.match(response.body.data, { code: 'validation_error', errors: [{ field, code }] });
  }
  t.strictSame((await list(user)).body.data.items, []);
});

t.test('a search is deleted by its user only', async (t) => {
  const user = await createUser(app);
  const id = await search(user, { q: '꽃' });
  rejected(t, await remove(await createUser(app), id), 404, 'saved_search_not_found');
  t.match(await remove(user, id), { status: 200, body: { data: {} } });
  rejected(t, await remove(user, id), 404, 'saved_search_not_found');
  t.strictSame((await list(user)).body.data.items, []);
});

t.test('a user has at most 20 of them, however many are saved at once', async (t) => {
  const user = await createUser(app);
  await pool.query(`INSERT INTO saved_searches (user_id, name, q)
    SELECT ${user.id}, 'x', 'x' FROM generate_series(1, 17)`);
  const saved = await inParallel(6, () => save(user, { name: '검색', q: '꽃' }));
  t.strictSame(tally(saved), { '201': 3, '409 too_many_saved_searches': 3 });
  const { items } = (await list(user)).body.data;
  t.equal(items.length, 20);
  await remove(user, items[0].id);
  t.equal((await save(user, { name: '검색', q: '꽃' })).status, 201);
});

t.test('they go with the account, also one that is being saved', async (t) => {
  const user = await createUser(app);
  await search(user, { q: '꽃' });
  const remove = () => deleteAccount(app, user);
  const [deletion, late] = await inOrder(t, app, user, remove, () => save(user, { name: '검색', q: '꽃' }));
  t.equal(deletion.status, 200);
  t.ok(late.status < 500);
  t.equal(await countRows(app, 'saved_searches WHERE user_id = $1', user.id), 0);
});

const bakery = await openShop(app, '해님 빵집');

/** A user with a search, who wants emails about matches. */
async function subscriber(q: string) {
  const user = await createVerifiedUser(app);
  await setPreferences(app, user, { email: { saved_search_match: true } });
  return { ...user, searchId: await search(user, { name: '빵 <b>', q }) };
}

t.test('users who switched it on get an email about a match, which a link switches off', async (t) => {
  const subscribe = () => subscriber('식빵 나눔');
  const [first, second, unverified] = [await subscribe(), await subscribe(), await subscribe()];
  await pool.query('UPDATE users SET is_verified = false WHERE id = $1', [unverified.id]);
  const without = await createVerifiedUser(app);
  await search(without, { q: '식빵 나눔' });
  await setPreferences(app, second, { language: 'en' });

  const post = await createPost(app, bakery.token, { title: '식빵 나눔' });
  const mail = await mails.next(first.email);
  const english = await mails.next(second.email);
  t.match(mail.subject, '[두레] 저장하신 검색에 맞는 새 글이 올라왔습니다 · 빵 <b>');
  t.ok(mail.text.includes('해님 빵집에서') && mail.text.includes('> 식빵 나눔'));
  t.ok(mail.text.includes(`https://app.example.com/posts/${post.id}`));
  t.notMatch(mail.html, /<b>/);
  t.match(english.text, /해님 빵집 published a post that matches your saved search “빵 <b>”/);
  t.not(mail.idempotencyKey, english.idempotencyKey);
  t.strictSame([await mailsTo(app, unverified.email), await mailsTo(app, without.email)], [[], []]);

  const [, link = ''] = /^<(.+)>$/.exec(mail.headers?.['List-Unsubscribe'] ?? '') ?? [];
  const { pathname, search: query } = new URL(link);
  t.match((await call('GET', `${pathname}${query}`)).text, '저장한 검색에 맞는 새 글');
  t.equal((await call('POST', `${pathname}${query}`)).status, 200);
  const preferences = (await call('GET', '/api/v1/notifications/preferences/', first)).body.data;
  t.match(preferences.email, { saved_search_match: false, partner_request_received: true });
  await createPost(app, bakery.token, { title: '식빵 나눔 둘째' });
  await mails.next(second.email, 1);
  t.equal((await mailsTo(app, first.email)).length, 1);
});

t.test('no email goes out for a search that was deleted, or beyond 21 an hour to an address', async (t) => {
  const [busy, leaving] = [await subscriber('호밀빵 나눔'), await subscriber('호밀빵 나눔')];
  await pool.query(
    `INSERT INTO mail_sends (purpose, email, sent_at)
     SELECT 'saved_search_match', $1, array_agg(now()) FROM generate_series(1, 20)`,
    [busy.email],
  );
  // As if the email waited in the queue.
  await onInsert(t, app, 'post_alerts', `DELETE FROM saved_searches WHERE id = ${leaving.searchId}`);
  await createPost(app, bakery.token, { title: '호밀빵 나눔' });
  await mails.next(busy.email);
  await createPost(app, bakery.token, { title: '호밀빵 나눔 둘째' });
  await matched();
  t.equal((await mailsTo(app, busy.email)).length, 1);
  t.strictSame(await mailsTo(app, leaving.email), []);
  t.equal((await remove(leaving, leaving.searchId)).status, 404);
});

// Others see it rounded to 37.556,126.904.
const location = { latitude: 37.5562, longitude: 126.9041 };
const cafe = await openShop(app, '햇살 카페', { address: '서울 마포구 망원동 57-1', category_ids: [1, 3] });
await call('PATCH', '/api/v1/stores/me/', { token: cafe.token, body: { location } });
const text = { title: '주말 공동 할인 SALE', content: '봄꽃 축제를\n같이 엽니다.' };

/** Users with a search each. */
const searchers = (searches: object[]) =>
  Promise.all(
    searches.map(async (filters) => {
      const user = await createUser(app);
      return { ...user, filters, searchId: await search(user, filters) };
    }),
  );

t.test('a post matches the searches that a list would find it with', async (t) => {
  const matching = await searchers([
    ...['공동할인', '공 동 할 인 sale', '봄꽃 축제를 같이', '꽃', '햇살카페', '망원동57'].map((q) => ({ q })),
    ...['망원동', ' 마 포구', '망원', '서울특별시 마포'].map((region) => ({ region })),
    { category_id: 3 },
    // 100.1 m from the rounded place, 122 m from the exact one.
    { near: '37.5551,126.904', radius_m: 101 },
    // 2,991 and 49,983 m.
    { near: '37.5829,126.904' },
    { near: '37.1065,126.904', radius_m: 50_000 },
    { q: '할인', category_id: 3, region: '마포구', near: '37.556,126.904', radius_m: 100 },
  ]);
  const others = await searchers([
    ...['공동구매', '베이커리', '축제를같이열어요'].map((q) => ({ q })),
    ...['연남동', '서울 연남', '마포 중구'].map((region) => ({ region })),
    { category_id: 2 },
    // 100.1 m from the rounded place, 78 m from the exact one.
    { near: '37.5569,126.904', radius_m: 100 },
    // 3,013 and 50,016 m.
    { near: '37.5831,126.904' },
    { near: '37.1062,126.904', radius_m: 50_000 },
    { q: '할인', category_id: 2 },
    { q: '할인', region: '연남동' },
    { category_id: 1, near: '37.6,126.904' },
  ]);
  const post = await createPost(app, cafe.token, text);
  await matched();
  const found = await matchesOf(...matching);
  for (const [index, { filters, searchId }] of matching.entries())
    t.strictSame(found[index], [[post.id, searchId]], JSON.stringify(filters));
  for (const [index, matches] of (await matchesOf(...others)).entries())
    t.strictSame(matches, [], JSON.stringify(others[index]?.filters));
});

t.test('a user is notified of a post once, for the oldest search that it matches', async (t) => {
  const user = await createUser(app);
  await search(user, { q: '없는 말' });
  const oldest = await search(user, { q: '바자회' });
  await search(user, { category_id: 1, q: '바자회' });
  const post = await createPost(app, cafe.token, { title: '바자회' });
  await matched();
  await matchAgain(post);
  await matched();
  t.strictSame(await matchesOf(user), [[[post.id, oldest]]]);

  await remove(user, oldest);
  const next = await createPost(app, cafe.token, { title: '바자회 둘째 날' });
  await matched();
  t.match(await matchesOf(user), [[[post.id], [next.id]]]);
});

t.test('the author, suspended users, and searches saved after the post are left out', async (t) => {
  const filters = { q: '벼룩시장' };
  const [user, suspended, late] = await searchers([filters, filters, filters]);
  if (!user || !suspended || !late) throw new Error('there are three');
  await suspend(app, suspended);
  await search(cafe, filters);
  const later = "created_at = now() + interval '1 hour'";
  await pool.query(`UPDATE saved_searches SET ${later} WHERE id = ${late.searchId}`);
  const post = await createPost(app, cafe.token, { title: '벼룩시장' });
  await matched();
  t.strictSame(await matchesOf(user, suspended, late, cafe), [[[post.id, user.searchId]], [], [], []]);
});

t.test('a post that is closed, deleted or hidden before it is matched notifies of nothing', async (t) => {
  const path = (id: number) => `/api/v1/posts/${id}/`;
  const { token } = cafe;
  const changes: Record<string, (id: number) => Promise<unknown>> = {
    closed: (id) => call('PATCH', path(id), { token, body: { status: 'closed' } }),
    deleted: (id) => call('DELETE', path(id), { token }),
    hidden: (id) => pool.query('UPDATE posts SET hidden_at = now() WHERE id = $1', [id]),
    'over, by its last day': (id) =>
      pool.query("UPDATE posts SET closes_on = now() - interval '2 days' WHERE id = $1", [id]),
    'of a hidden store': () =>
      pool.query('UPDATE stores SET suspended_at = now() WHERE id = $1', [cafe.store.id]),
  };
  const publish = (state: string) => createPost(app, token, { title: `나눔장터 ${state}` });
  const posts = await Promise.all(Object.keys(changes).map(publish));
  await matched();
  const user = await createUser(app);
  await search(user, { q: '나눔장터' });
  const earlier = "created_at = now() - interval '1 hour'";
  await pool.query(`UPDATE saved_searches SET ${earlier} WHERE user_id = ${user.id}`);
  t.teardown(() => pool.query('UPDATE stores SET suspended_at = NULL WHERE id = $1', [cafe.store.id]));
  for (const [index, [state, change]] of Object.entries(changes).entries()) {
    const post = posts[index] ?? { id: 0 };
    await change(post.id);
    await matchAgain(post);
    await matched();
    t.strictSame(await matchesOf(user), [[]], state);
  }
});

type Users = { id: number }[];

/** How many notifications each of some users has. */
const notified = async (users: Users) => (await matchesOf(...users)).map((matches) => matches.length);

/** Waits until some users are notified, and checks that each is so once. */
async function notifiedOnce(t: Test, users: Users): Promise<void> {
  await until('all were notified', async () => !(await notified(users)).includes(0));
  // What would be tried again in a few seconds.
  await pool.query(`SELECT graphile_worker.complete_jobs(ARRAY(
    SELECT id FROM graphile_worker.jobs WHERE task_identifier = 'match_saved_searches' AND run_at > now()))`);
  await matched();
  t.strictSame(new Set(await notified(users)), new Set([1]));
}

let crowds = 0;

/** So many users with a search for a word. */
async function crowd(word: string, size: number): Promise<Users> {
  const { rows } = await pool.query<{ id: number }>(
    `WITH u AS (
       INSERT INTO users (username, email, name)
       SELECT $1 || n, $1 || n || '@example.com', 'x' FROM generate_series(1, $3) n RETURNING id
     ), saved AS (INSERT INTO saved_searches (user_id, name, q) SELECT id, 'x', $2 FROM u)
     SELECT id FROM u ORDER BY id`,
    [`crowd${process.pid}.${crowds++}.`, word, size],
  );
  return rows;
}

t.test('a run that ends between two batches is continued without repeating one', async (t) => {
  const users = await crowd('김장나눔', 1_200);
  const last = users[700]?.id;
  const crash = "RAISE 'crash'";
  const endCrash = await onInsert(t, app, 'notification_counts', crash, `NEW.user_id = ${last}`);
  const firstLine = app.logs.length;
  const post = await createPost(app, cafe.token, { title: '김장나눔' });
  const hasFailed = (line: string) => /match_saved_searches.*job failed/.test(line);
  await until('a failed run', () => app.logs.slice(firstLine).some(hasFailed));
  const before = await notified(users);
  t.equal(before.lastIndexOf(1) + 1, before.indexOf(0), 'in the order of the users');
  t.equal(await countRows(app, 'notifications WHERE post_id = $1', post.id), 500, 'a whole batch');
  await endCrash();
  await matchAgain(post);
  await notifiedOnce(t, users);
});

t.test('two workers that match a post at once notify each user once', async (t) => {
  const users = await crowd('달빛시장', 600);
  const lock = await lockRows(t, app, 'LOCK TABLE post_alerts IN SHARE MODE');
  const post = await createPost(app, cafe.token, { title: '달빛시장' });
  await matchAgain(post);
  await lock.waiters(2);
  await lock.release();
  await notifiedOnce(t, users);
});

t.test('a post is matched before a clean-up that is queued later', async (t) => {
  const app = await createTestApp({ WORKER_ENABLED: 'false' });
  await createPost(app, (await openShop(app, '카페')).token);
  await relayed(app);
  await app.pool.query(`SELECT graphile_worker.add_job('clean_up')`);
  const { jobs } = await listJobs(openTestDatabase(t, app.url), { failed: false, locked: false, limit: 9 });
  const tasks = jobs.map(({ task }) => task);
  t.strictSame(tasks, ['match_saved_searches', 'clean_up']);
});

t.test('a long post is matched in time, however many searches there are', async (t) => {
  // A database without statistics, as after a restore, where every search is looked at.
  const app = await createTestApp({}, { isolated: true });
  const { search, matchesOf } = savedSearchesIn(app);
  await app.pool.query(`WITH u AS (
      INSERT INTO users (username, email, name)
      SELECT 'many' || n, 'many' || n || '@example.com', 'x' FROM generate_series(1, 20000) n RETURNING id
    ) INSERT INTO saved_searches (user_id, name, q) SELECT id, 'x', '없는말' FROM u`);
  const user = await createUser(app);
  await search(user, { q: '긴 글' });
  const content = Array.from({ length: 5_000 }, (_, n) => String.fromCodePoint(0xac00 + n)).join('');
  await createPost(app, (await openShop(app, '카페')).token, { title: '긴 글', content });
  const matches = await until('the match', async () => {
    const [found = []] = await matchesOf(user);
    return found.length > 0 ? found : undefined;
  });
  t.equal(matches.length, 1);
});
