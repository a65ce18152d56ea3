import t from 'tap';
import { createTestApp, createUser, verifyEmails } from '../support/app.ts';
import { createPost, openShop } from '../support/stores.ts';
import { savedSearchesIn } from './searching.ts';

const app = await createTestApp();
const { call, mails, pool } = app;
const { search, remove, matched } = savedSearchesIn(app);
const bakery = await openShop(app, '해님 빵집');

const preferences = '/api/v1/notifications/preferences/';
const mailsTo = ({ email }: { email: string }) => mails.sent.filter(({ to }) => to === email);

/** A user with a search, who wants emails about matches. */
async function subscriber(q: string) {
  const user = await createUser(app);
  await verifyEmails(app, user);
  const body = { email: { saved_search_match: true } };
  await call('PATCH', preferences, { token: user.token, body });
  return { ...user, searchId: await search(user, { name: '빵 <b>', q }) };
}

t.test('users who switched it on get an email about a match, which a link switches off', async (t) => {
  const [first, second, unverified] = [
    await subscriber('식빵 나눔'),
    await subscriber('식빵 나눔'),
    await subscriber('식빵 나눔'),
  ];
  await pool.query('UPDATE users SET is_verified = false WHERE id = $1', [unverified.id]);
  const without = await createUser(app);
  await verifyEmails(app, without);
  await search(without, { q: '식빵 나눔' });
  await call('PATCH', preferences, { token: second.token, body: { language: 'en' } });

  const post = await createPost(app, bakery.token, { title: '식빵 나눔' });
  const mail = await mails.next(first.email);
  const english = await mails.next(second.email);
  t.match(mail.subject, '[두레] ‘빵 <b>’ 검색에 맞는 새 글이 올라왔습니다');
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
  t.match((await call('GET', preferences, { token: first.token })).body.data.email, {
    saved_search_match: false,
    partner_request_received: true,
  });
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
