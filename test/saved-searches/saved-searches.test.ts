import t from 'tap';
import { createVerifiedUser } from '../auth/mailbox.ts';
import { setPreferences } from '../notifications/notified.ts';
import { createTestApp, createUser, deleteAccount } from '../support/app.ts';
import { invalid, rejected, tally } from '../support/assertions.ts';
import { inOrder, inParallel } from '../support/concurrency.ts';
import { countRows } from '../support/rows.ts';
import { createPost, openShop } from '../support/stores.ts';
import { savedSearchesIn } from './searching.ts';

const app = await createTestApp();
const { call, mails, pool } = app;
const { save, list, remove, search, matched } = savedSearchesIn(app);

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

const mailsTo = ({ email }: { email: string }) => mails.sent.filter(({ to }) => to === email);

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
  await mails.settled();
  t.strictSame([mailsTo(unverified).length, mailsTo(without).length], [0, 0]);

  const [, link = ''] = /^<(.+)>$/.exec(mail.headers?.['List-Unsubscribe'] ?? '') ?? [];
  const { pathname, search: query } = new URL(link);
  t.match((await call('GET', `${pathname}${query}`)).text, '저장한 검색에 맞는 새 글');
  t.equal((await call('POST', `${pathname}${query}`)).status, 200);
  const preferences = (await call('GET', '/api/v1/notifications/preferences/', first)).body.data;
  t.match(preferences.email, { saved_search_match: false, partner_request_received: true });
  await createPost(app, bakery.token, { title: '식빵 나눔 둘째' });
  await mails.next(second.email, 1);
  await mails.settled();
  t.equal(mailsTo(first).length, 1);
});

t.test('no email goes out for a search that was deleted, or beyond 21 an hour to an address', async (t) => {
  const [busy, leaving] = [await subscriber('호밀빵 나눔'), await subscriber('호밀빵 나눔')];
  await pool.query(
    `INSERT INTO mail_sends (purpose, email, sent_at)
     SELECT 'saved_search_match', $1, array_agg(now()) FROM generate_series(1, 20)`,
    [busy.email],
  );
  // As if the email waited in the queue.
  await pool.query(
    `CREATE FUNCTION forget() RETURNS trigger LANGUAGE plpgsql AS $$
       BEGIN DELETE FROM saved_searches WHERE id = ${leaving.searchId}; RETURN NEW; END $$;
     CREATE TRIGGER forget AFTER INSERT ON post_alerts FOR EACH ROW EXECUTE FUNCTION forget()`,
  );
  t.teardown(() => pool.query('DROP FUNCTION IF EXISTS forget CASCADE'));
  await createPost(app, bakery.token, { title: '호밀빵 나눔' });
  await mails.next(busy.email);
  await createPost(app, bakery.token, { title: '호밀빵 나눔 둘째' });
  await matched();
  await mails.settled();
  t.strictSame([mailsTo(busy).length, mailsTo(leaving).length], [1, 0]);
  t.equal((await remove(leaving, leaving.searchId)).status, 404);
});
