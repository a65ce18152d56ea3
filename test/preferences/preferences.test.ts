import t from 'tap';
import type { OutgoingMail } from '../../src/infrastructure/mail/transport.ts';
import { mailsTo } from '../auth/mailbox.ts';
import { mails, render } from '../mail/samples.ts';
import { setPreferences } from '../notifications/notified.ts';
import { createTestApp, createUser, deleteAccount, queuedFor, testEnvironment } from '../support/app.ts';
import { invalid } from '../support/assertions.ts';
import { lockRows } from '../support/concurrency.ts';
import { notifiedOf, openTwoVerifiedShops, sendRequest, transition } from '../support/partner-requests.ts';
import { countRows, everyRow } from '../support/rows.ts';

const oldSecret = testEnvironment.JWT_SECRET;
const newSecret = 'a newer secret 0123456789 abcdefgh ijk';
const app = await createTestApp();

const preferencesPath = '/api/v1/notifications/preferences/';

/** What every user gets at first. */
const everyMail = {
  partner_request_received: true,
  partner_request_answered: true,
  partner_request_ended: true,
  saved_search_match: false,
};
const everyPush = { ...everyMail, saved_search_match: true };
const atFirst = { language: 'ko', email: everyMail, push: everyPush, quiet_hours: null };

/** Path and query of the link in the header of an email with which its recipient switches such emails off. */
function unsubscribePathIn(mail: OutgoingMail | undefined): string {
  const header = mail?.headers?.['List-Unsubscribe'] ?? '';
  const [, path] = /^<https:\/\/api\.example\.com(\/\S+)>$/.exec(header) ?? [];
  if (path === undefined) throw new Error('the email has no link');
  return path;
}

const preferencesOf = async ({ token }: { token: string }) =>
  (await app.call('GET', preferencesPath, { token })).body.data;

const change = (token: string, body: unknown) => app.call('PATCH', preferencesPath, { token, body });

t.test('a new user gets all but emails about matches; a change changes the given fields only', async (t) => {
  const user = await createUser(app);
  t.strictSame(await preferencesOf(user), atFirst);
  const changed = structuredClone<Record<string, unknown>>(atFirst);
  for (const [name, value] of [
    ['email', { partner_request_answered: false }],
    ['email', { partner_request_ended: false, saved_search_match: true }],
    ['push', { partner_request_ended: false }],
    ['quiet_hours', { from: '22:00', to: '08:00' }],
    ['push', { partner_request_ended: true, saved_search_match: false }],
    ['language', 'en'],
    ['email', { partner_request_answered: true, saved_search_match: false }],
    ['quiet_hours', { from: '00:00', to: '23:59' }],
    ['quiet_hours', null],
  ] as const) {
    const isPart = name === 'email' || name === 'push';
    changed[name] = isPart ? Object.assign({}, changed[name], value) : value;
    t.strictSame((await change(user.token, { [name]: value })).body.data, changed);
  }
  t.strictSame(await preferencesOf(user), changed);
});

t.test('nothing, or what is not known, is a validation error', async (t) => {
  const { token } = await createUser(app);
  const hours = { from: '22:00', to: '08:00' };
  const wrong: [body: unknown, ...fields: string[]][] = [
    [{}, 'body'],
    [{ email: { password_changed: false } }, '/email/password_changed'],
    [{ push: { partner_request_withdrawn: false } }, '/push/partner_request_withdrawn'],
    [{ quiet_hours: {} }, '/quiet_hours/from', '/quiet_hours/to'],
    [{ quiet_hours: { from: '22:00' } }, '/quiet_hours/to'],
    [{ quiet_hours: { ...hours, zone: 'Asia/Seoul' } }, '/quiet_hours/zone'],
    ...['24:00', '7:30', '07:60', '0730', '07:30:00', 'noon', ''].map((to): [unknown, string] => [
      { quiet_hours: { ...hours, to } },
      '/quiet_hours/to',
    ]),
    [{ quiet_hours: { from: '08:00', to: '08:00' } }, '/quiet_hours/to'],
  ];
  for (const [body, ...fields] of wrong) invalid(t, await change(token, body), ...fields);
  t.strictSame(await preferencesOf({ token }), atFirst);
});

t.test('a login changes the language of emails until the user has chosen one', async (t) => {
  const user = await createUser(app);
  const body = { username: user.username, password: user.password };
  const logInIn = (language: string) =>
    app.call('POST', '/auth/login/', { body, headers: { 'accept-language': language } });
  await logInIn('en');
  t.equal((await preferencesOf(user)).language, 'en');
  await change(user.token, { email: { partner_request_ended: false } });
  await logInIn('ko');
  t.equal((await preferencesOf(user)).language, 'ko', 'another preference chooses no language');
  await change(user.token, { language: 'en' });
  await logInIn('ko');
  t.equal((await preferencesOf(user)).language, 'en');
});

t.test('a kind of email that is switched off is not sent; its notification is there', async (t) => {
  const { sender, receiver, post } = await openTwoVerifiedShops(app);
  await change(receiver.token, { email: { partner_request_received: false } });
  await change(sender.token, { email: { partner_request_answered: false } });
  const accepted = await sendRequest(app, sender, post);
  await transition(app, receiver, accepted, 'accept');
  t.strictSame([await mailsTo(app, receiver.email), await mailsTo(app, sender.email)], [[], []]);
  t.strictSame(await notifiedOf(app, receiver), [['received', accepted, '수락됨']]);
  t.strictSame(await notifiedOf(app, sender), [['accepted', accepted, '수락됨']]);
  const sends = "mail_sends WHERE purpose = 'partner_request' AND email IN ($1, $2)";
  t.equal(await countRows(app, sends, receiver.email, sender.email), 0, 'nor does it count for the cap');

  // The other kinds are still sent.
  await change(sender.token, { email: { partner_request_answered: true, partner_request_received: false } });
  const other = await openTwoVerifiedShops(app);
  const declined = await sendRequest(app, sender, other.post);
  await transition(app, other.receiver, declined, 'decline');
  t.match((await app.mails.next(sender.email)).subject, '거절되었습니다');
});

t.test('notices about the account cannot be switched off', async (t) => {
  const { sender } = await openTwoVerifiedShops(app);
  const off = Object.fromEntries(Object.keys(everyMail).map((name) => [name, false]));
  await change(sender.token, { email: off });
  const body = { current_password: sender.password, new_password: 'rice-cake-at-dawn-3' };
  await app.call('POST', '/auth/change-password/', { token: sender.token, body });
  const notice = await app.mails.next(sender.email);
  t.match(notice, { subject: '비밀번호가 변경', headers: undefined });
  t.notMatch(notice.text, 'unsubscribe');
});

t.test('of concurrent changes of different preferences, all count', async (t) => {
  const user = await createUser(app);
  const row = await lockRows(t, app, 'SELECT FROM users WHERE id = $1 FOR UPDATE', [user.id]);
  const switches = Object.keys(everyPush).map((name) => ({ [name]: name === 'saved_search_match' }));
  const quiet = { quiet_hours: { from: '01:00', to: '02:00' } };
  const bodies = [...switches.flatMap((one) => [{ email: one }, { push: one }]), quiet];
  const changes = bodies.map((body) => change(user.token, body));
  await row.waiters(bodies.length);
  await row.release();
  await Promise.all(changes);
  const off = Object.assign({}, ...switches);
  t.strictSame(await preferencesOf(user), { language: 'ko', email: off, push: off, ...quiet });
});

const html = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
const type = { 'content-type': 'text/html; charset=utf-8' };
const form = { 'content-type': 'application/x-www-form-urlencoded' };
const oneClick = { body: 'List-Unsubscribe=One-Click', headers: form };

/** Two shops, and what their emails about a request and its response link to. */
async function exchangeMails() {
  const { sender, receiver, post } = await openTwoVerifiedShops(app);
  const id = await sendRequest(app, sender, post);
  // The email about a request is sent only while the request waits for its response.
  const received = await app.mails.next(receiver.email);
  await transition(app, receiver, id, 'accept');
  const accepted = await app.mails.next(sender.email);
  return { sender, receiver, received, accepted, path: unsubscribePathIn(received) };
}

t.test('an email about a request has the headers of RFC 8058, and the link in its footer', async (t) => {
  const { receiver, received, accepted, path } = await exchangeMails();
  for (const mail of [received, accepted]) {
    const link = `https://api.example.com${unsubscribePathIn(mail)}`;
    t.equal(mail.headers?.['List-Unsubscribe-Post'], 'List-Unsubscribe=One-Click');
    t.match(mail.text, `\n이 종류의 메일 그만 받기: ${link}\n`);
    t.match(mail.html, `href="${link}"`);
  }
  t.not(unsubscribePathIn(accepted), path);
  const { text } = render(mails.partner_request_received, 'en', 'https://x.example/?a=1&b=2');
  t.match(text, 'Stop emails of this kind: https://x.example/?a=1&b=2');
  await app.call('POST', '/auth/find-id/', { body: { email: receiver.email } });
  const requested = await app.mails.next(receiver.email, 1);
  t.match(requested, { subject: '아이디 안내', headers: undefined });
  t.notMatch(requested.text, 'unsubscribe');
});

t.test('one click switches off one kind of email of one user, without a login, repeatedly', async (t) => {
  const { sender, receiver, path } = await exchangeMails();
  const bodies = [
    oneClick,
    {},
    { body: {} },
    { body: '', headers: form },
    {
      body: '--x\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--x--\r\n',
      headers: { 'content-type': 'multipart/form-data; boundary=x' },
    },
  ];
  for (const options of bodies) {
    t.strictSame((await app.call('POST', path, options)).body.data, {});
    const { email } = await preferencesOf(receiver);
    t.strictSame(email, { ...everyMail, partner_request_received: false });
  }
  t.strictSame((await preferencesOf(sender)).email, everyMail);
});

t.test('opening the link changes nothing: its page has a button, whose response is a page', async (t) => {
  const { receiver, path } = await exchangeMails();
  for (const [language, button, done, settings] of [
    ['ko', '그만 받기', '메일 수신을 해제했습니다', '알림 설정'],
    ['en', 'Stop these emails', 'These emails are switched off', 'alert settings'],
  ]) {
    const headers = { ...html, 'accept-language': language ?? '' };
    const page = await app.call('GET', path, { headers });
    t.match(page, { status: 200, headers: { ...type, 'cache-control': 'private, no-cache' } });
    t.equal(page.headers['referrer-policy'], 'no-referrer');
    const policy = /default-src 'none'.*form-action 'self'.*frame-ancestors 'none'/;
    t.match(page.headers['content-security-policy'], policy);
    t.match(page.text, `<html lang="${language}">`);
    t.match(page.text, `<form method="post"><button>${button}</button></form>`);
    t.notMatch(page.text, new RegExp(`<script|${receiver.email}|${receiver.username}`));
    t.match(await preferencesOf(receiver), { email: { partner_request_received: language === 'ko' } });
    await app.call('HEAD', path);
    const response = await app.call('POST', path, { body: '', headers: { ...headers, ...form } });
    t.match(response, { status: 200, headers: type, text: done });
    t.match(response.text, `<a href="https://app.example.com/account/alerts">${settings}</a>`);
    t.match(await preferencesOf(receiver), { email: { partner_request_received: false } });
  }
  t.match((await app.call('GET', path)).text, '<!doctype html>', 'also without an Accept header');
});

t.test('a token that the service did not sign is rejected and changes nothing', async (t) => {
  const { sender, receiver, path } = await exchangeMails();
  const [start = '', token = ''] = path.split('?token=');
  const [, topic, digest = ''] = token.split('.');
  const wrong = [
    'x',
    `${receiver.id}.${topic}.${'A'.repeat(43)}`,
    `${sender.id}.${topic}.${digest}`,
    `${receiver.id}.partner_request_ended.${digest}`,
    `${receiver.id}.constructor.${digest}`,
    `0${token}`,
    `${token}A`,
    '<script>alert(1)</script>',
    '"\'><img src=x>',
  ];
  const links = wrong.map((one) => `${start}?${new URLSearchParams({ token: one })}`);
  for (const link of [...links, start]) {
    for (const method of ['GET', 'POST']) {
      invalid(t, await app.call(method, link), 'token');
      const page = await app.call(method, link, { headers: html });
      t.match(page, { status: 400, headers: type, text: '사용할 수 없는 링크입니다' });
      t.notMatch(page.text, /alert|src=x|partner_request/, 'the page repeats nothing of the request');
    }
  }
  for (const shop of [sender, receiver]) t.strictSame((await preferencesOf(shop)).email, everyMail);
});

t.test('a queued email is not sent if it was switched off; links of every secret work', async (t) => {
  const waiting = await createTestApp({ WORKER_ENABLED: 'false' });
  const [wanted, unwanted] = [await openTwoVerifiedShops(waiting), await openTwoVerifiedShops(waiting)];
  for (const { sender, receiver, post } of [wanted, unwanted]) {
    await sendRequest(waiting, sender, post);
    t.strictSame(await queuedFor(waiting, receiver), ['partner_request_received']);
  }
  await setPreferences(waiting, unwanted.receiver, { email: { partner_request_received: false } });
  const secrets = { JWT_SECRET: `${newSecret},${oldSecret}` };
  const sending = await createTestApp(secrets, { databaseUrl: waiting.url });
  await sending.mails.settled();
  const [mail, ...others] = sending.mails.sent;
  t.equal(mail?.to, wanted.receiver.email);
  t.strictSame(others, []);
  for (const path of [unsubscribePathIn(mail), (await exchangeMails()).path])
    t.equal((await sending.call('POST', path, oneClick)).status, 200);
});

t.test('the token is neither logged nor stored, and works for a deleted account, too', async (t) => {
  const { receiver, path } = await exchangeMails();
  await app.call('GET', path);
  await app.call('POST', path, oneClick);
  await app.call('POST', `${path}x`);
  const digest = path.split('.').at(-1) ?? '';
  t.equal(digest.length, 43);
  t.notOk(app.logs.join('').includes(digest));
  t.notOk((await everyRow(app)).includes(digest));
  t.match(app.logs.join(''), '"path":"/api/v1/notifications/unsubscribe/"');
  t.equal((await deleteAccount(app, receiver)).status, 200);
  t.match(await app.call('POST', path, oneClick), { status: 200, body: { data: {} } });
});

t.test('other failures are pages for browsers, too', async (t) => {
  const { path } = await exchangeMails();
  const failing = await app.startInstance({}, { serverErrors: true });
  await app.mails.settled();
  await app.pool.query('ALTER TABLE users RENAME TO lost_users');
  const page = await failing.call('POST', path, { headers: html });
  await app.pool.query('ALTER TABLE lost_users RENAME TO users');
  t.match(page, { status: 500, text: '처리하지 못했습니다' });
  t.notMatch(page.text, 'users');
});
