import t, { type Test } from 'tap';
import { type Answer, createTestApp, createUser, logIn, password } from '../support/app.ts';
import { refused, tally, tokenRefused } from '../support/assertions.ts';
import { inParallel } from '../support/concurrency.ts';
import { sessionIdIn } from './tokens.ts';

const app = await createTestApp();
t.teardown(app.close);
const other = await createTestApp({ WORKER_ENABLED: 'false' }, { databaseUrl: app.url });
t.teardown(other.close);

const list = (token: string, query = '') => app.call('GET', `/auth/sessions/${query}`, { token });
const read = (token: string, { call } = app) => call('GET', '/auth/me/', { token });
const refresh = (token: string, { call } = app) =>
  call('POST', '/auth/token/refresh/', { body: { refresh: token } });
const end = (token: string, sessionId: string, { call } = app) =>
  call('DELETE', `/auth/sessions/${sessionId}/`, { token });

/** The ids on a page. */
const idsOf = ({ body }: Answer): string[] => body.data.items.map(({ id }: { id: string }) => id);

/** A user with so many sessions besides the first, oldest first. */
async function createSessions(count: number) {
  const user = await createUser(app);
  const sessions = [user];
  for (let one = 0; one < count; one++) sessions.push({ ...user, ...(await logIn(app, user)) });
  return { user, sessions, ids: sessions.map(({ token }) => sessionIdIn(token)) };
}

/** Asserts that a session has ended, on every instance. */
async function ended(t: Test, session: { token: string; refresh: string }) {
  for (const instance of [app, other]) {
    tokenRefused(t, await read(session.token, instance), 'revoked');
    tokenRefused(t, await refresh(session.refresh, instance), 'revoked', 'refresh');
  }
}

/** Asserts that a session goes on. */
async function lives(t: Test, session: { token: string; refresh: string }) {
  t.equal((await read(session.token)).status, 200);
  t.equal((await refresh(session.refresh)).status, 200);
}

t.test('sessions are listed with exactly their fields, newest first', async (t) => {
  const user = await createUser(app);
  const body = { username: user.username, password };
  const headers = { 'user-agent': 'Mozilla/5.0 (Linux; Android 15)' };
  const login = await app.call('POST', '/auth/login/', { body, headers, remoteAddress: '203.0.113.7' });
  const { access } = login.body.data;
  const answer = await list(access);
  t.equal(answer.status, 200);
  t.equal(answer.headers['cache-control'], 'no-store');
  const [newest, oldest] = answer.body.data.items;
  t.strictSame(answer.body, {
    success: true,
    message: answer.body.message,
    data: {
      items: [
        {
          id: sessionIdIn(access),
          user_agent: 'Mozilla/5.0 (Linux; Android 15)',
          ip: '203.0.113.7',
          created_at: newest.created_at,
          last_used_at: newest.last_used_at,
          is_current: true,
        },
        {
          id: sessionIdIn(user.token),
          user_agent: oldest.user_agent,
          ip: '127.0.0.1',
          created_at: oldest.created_at,
          last_used_at: oldest.last_used_at,
          is_current: false,
        },
      ],
      next_cursor: null,
    },
  });
  for (const time of [newest.created_at, newest.last_used_at]) {
    t.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/);
    t.ok(Math.abs(Date.parse(time) - Date.now()) < 60_000);
  }
  const seenByTheOther = (await list(user.token)).body.data.items;
  t.strictSame(
    seenByTheOther.map(({ is_current }: { is_current: boolean }) => is_current),
    [false, true],
  );
});

t.test('a refresh changes last_used_at, but not created_at or the order', async (t) => {
  const { user, ids } = await createSessions(1);
  await app.pool.query(
    `UPDATE sessions SET created_at = created_at - interval '1 hour', last_used_at = last_used_at - interval '1 hour'
     WHERE user_id = $1`,
    [user.id],
  );
  const before = (await list(user.token)).body.data.items;
  await refresh(user.refresh);
  const answer = await list(user.token);
  const after = answer.body.data.items;
  t.strictSame(idsOf(answer), ids.toReversed());
  t.strictSame(after[0], before[0]);
  t.equal(after[1].created_at, before[1].created_at);
  t.ok(Date.parse(after[1].last_used_at) > Date.parse(before[1].last_used_at) + 3_500_000);
});

t.test('ending a session revokes its tokens at once, on every instance, and no others', async (t) => {
  const { user, sessions, ids } = await createSessions(2);
  const answer = await end(user.token, String(ids[1]));
  t.equal(answer.status, 200);
  t.strictSame(answer.body, { success: true, message: answer.body.message, data: {} });
  const [first, second, third] = sessions;
  if (first && second && third) {
    await ended(t, second);
    await lives(t, first);
    await lives(t, third);
  }
  refused(t, await end(user.token, String(ids[1])), 404, 'session_not_found');
});

t.test('the current session can be ended; an id is case-insensitive', async (t) => {
  const { user, ids } = await createSessions(0);
  t.equal((await end(user.token, String(ids[0]).toUpperCase())).status, 200);
  await ended(t, user);
});

t.test('the session of another user is not found, and stays', async (t) => {
  const [user, stranger] = [await createUser(app), await createUser(app)];
  refused(t, await end(stranger.token, sessionIdIn(user.token)), 404, 'session_not_found');
  await lives(t, user);
});

t.test('of 20 concurrent ends of one session, one succeeds', async (t) => {
  const { user, ids } = await createSessions(1);
  const answers = await inParallel(20, (index) => end(user.token, String(ids[1]), index % 2 ? other : app));
  t.strictSame(tally(answers), { '200': 1, '404 session_not_found': 19 });
});

t.test('ending the other sessions keeps the current one', async (t) => {
  const { sessions } = await createSessions(3);
  const stranger = await createUser(app);
  const current = sessions[2];
  if (!current) throw new Error('there is no third session');
  for (let time = 0; time < 2; time++) {
    const answer = await app.call('DELETE', '/auth/sessions/', { token: current.token });
    t.equal(answer.status, 200);
    t.strictSame(answer.body, { success: true, message: answer.body.message, data: {} });
  }
  for (const session of sessions) if (session !== current) await ended(t, session);
  await lives(t, current);
  await lives(t, stranger);
  t.equal((await list(current.token)).body.data.items.length, 1);
});
