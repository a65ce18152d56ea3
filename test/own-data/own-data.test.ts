import { connect, type Socket } from 'node:net';
import { text as readAll } from 'node:stream/consumers';
import pg from 'pg';
import t from 'tap';
import { passConfirmation } from '../auth/authenticator.ts';
import { createTestApp, createUser } from '../support/app.ts';
import { rejected } from '../support/assertions.ts';
import { lockRows } from '../support/concurrency.ts';
import { listen } from '../support/raw-http.ts';
import { countRows } from '../support/rows.ts';
import { createPost, openShop } from '../support/stores.ts';
import { until } from '../support/until.ts';

const app = await createTestApp();
const { call, pool } = app;
const path = '/auth/me/data/';
const download = (token?: string) => call('GET', path, { token });
const countOf = async (id: number): Promise<number> =>
  (await pool.query("SELECT count FROM daily_counts WHERE kind = 'download' AND owner_id = $1", [id])).rows[0]
    ?.count ?? 0;

/** Adds notifications of a user. */
const addNotifications = (id: number, count: number) =>
  pool.query(`
    INSERT INTO notification_counts (user_id, unread) VALUES (${id}, ${count});
    INSERT INTO notifications (user_id, kind, post_id, saved_search_id)
      SELECT ${id}, 'saved_search_match', n, 1 FROM generate_series(1, ${count}) n`);

t.test('the own data is one JSON file outside the envelope, without what belongs to others', async (t) => {
  const [own, other] = [await openShop(app, '두레 카페'), await openShop(app, '옆집')];
  for (let number = 0; number < 7; number++) await createPost(app, own.token, { title: `글 ${number}` });
  await createPost(app, other.token);
  const { status, headers, body, text } = await download(own.token);
  t.equal(status, 200, text);
  t.match(headers, {
    'content-type': 'application/json; charset=utf-8',
    'content-disposition': `attachment; filename="dure-data-${body.exported_at.slice(0, 10)}.json"`,
    'cache-control': 'no-store',
  });
  const off = { preferences: { quiet_hours: null }, second_factor: null };
  const empty = { store: { location: null }, sent_requests: [] };
  t.match(body, { account: { has_password: true }, ...off, ...empty });
  const titles = body.posts.map(({ title }: { title: string }) => title);
  t.strictSame(titles.join(), '글 0,글 1,글 2,글 3,글 4,글 5,글 6', 'more than a page of them');
  t.notMatch(text, new RegExp(`옆집|${other.username}|"success"`));
  const head = await call('HEAD', path, { token: own.token });
  t.match(head, { status: 200, headers: { 'content-disposition': /^attachment/ } });
});

t.test('it needs a confirmation, and what is rejected is not counted', async (t) => {
  const user = await createUser(app);
  await passConfirmation(app, user);
  rejected(t, await download(user.token), 403, 'confirmation_required', { methods: ['password'] });
  t.equal(await countOf(user.id), 0);
});

t.test('every row is there once, however many pages there are', async (t) => {
  const { token, id } = await createUser(app);
  await addNotifications(id, 1_100);
  const { notifications } = (await download(token)).body;
  const posts = notifications.map((one: { post_id: number }) => one.post_id);
  const numbers = Array.from({ length: 1_100 }, (_, index) => index + 1);
  t.strictSame(posts, numbers);
});

/** Sends the request on a connection of its own, from which nothing is read. */
async function request(token: string, version = '1.1'): Promise<Socket> {
  const socket = connect({ port: await listen(app.app), host: '127.0.0.1' });
  socket.on('error', () => undefined);
  const headers = `Host: localhost\r\nAuthorization: Bearer ${token}\r\nConnection: close\r\n\r\n`;
  socket.write(`GET ${path} HTTP/${version}\r\n${headers}`);
  return socket;
}

t.test('an error midway ends the connection, and not the file', async (t) => {
  const { token, id } = await createUser(app);
  await addNotifications(id, 600);
  const lock = await lockRows(t, app, 'LOCK TABLE reports IN ACCESS EXCLUSIVE MODE');
  const received = readAll(await request(token)).catch(() => 'reset');
  const [backend] = await lock.waiters(1);
  await pool.query('SELECT pg_terminate_backend($1)', [backend]);
  const text = await received;
  await lock.release();
  t.notMatch(text, /\n}\n|\r\n0\r\n\r\n$/);
  t.notMatch(text, '"success"');
});

t.test('a client that reads nothing keeps no connection to the database and little in memory', async (t) => {
  const { token, id } = await createUser(app);
  const rows = 2_000;
  await pool.query(`
    INSERT INTO failed_mails (user_id, kind, payload, reason, attempts)
      SELECT ${id}, 'user_id', '{}', repeat('x', 10000), 1 FROM generate_series(1, ${rows})`);
  let pages = 0;
  const { query } = pg.Pool.prototype;
  t.capture(pg.Pool.prototype, 'query', function (this: unknown, ...args: [{ text?: string }]) {
    if (args[0].text?.includes('FROM failed_mails')) pages++;
    return Reflect.apply(query, this, args);
  });
  // Without chunks.
  const socket = await request(token, '1.0');
  await until('the first page', () => pages > 0);
  await until('a pause', async () => {
    const before = pages;
    for (let time = 0; time < 5; time++) await call('GET', '/auth/me/', { token });
    const ofApp = "datname = current_database() AND application_name = 'dure'";
    const busy = await countRows(app, `pg_stat_activity WHERE ${ofApp} AND state <> 'idle'`);
    return busy === 0 && pages === before;
  });
  t.ok(pages < rows / 400, `${pages} pages`);
  const [, file = ''] = (await readAll(socket)).split('\r\n\r\n');
  t.equal(JSON.parse(file).failed_mails.length, rows);
});
