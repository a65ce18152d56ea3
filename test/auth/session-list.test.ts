import t, { type Test } from 'tap';
import { type Answer, createTestApp, createUser, logIn } from '../support/app.ts';
import { refused } from '../support/assertions.ts';
import { sessionIdIn } from './tokens.ts';

const app = await createTestApp();
t.teardown(app.close);

const list = (token: string, query = '') => app.call('GET', `/auth/sessions/${query}`, { token });
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

t.test('only live sessions of the caller are listed', async (t) => {
  const { user, ids } = await createSessions(3);
  await createUser(app);
  await app.pool.query('UPDATE sessions SET expires_at = now() WHERE id = $1', [ids[1]]);
  await end(user.token, String(ids[2]));
  t.strictSame(idsOf(await list(user.token)), [ids[3], ids[0]]);
});

/** Reads the whole list, page by page. @returns the ids, in the order of the pages */
async function readPages(t: Test, token: string, limit: number): Promise<string[]> {
  const seen: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const answer = await list(token, `?limit=${limit}${cursor && `&cursor=${cursor}`}`);
    t.equal(answer.status, 200);
    t.ok(answer.body.data.items.length <= limit);
    seen.push(...idsOf(answer));
    cursor = answer.body.data.next_cursor;
  }
  return seen;
}

t.test('the list is paginated', async (t) => {
  const { user, ids } = await createSessions(4);
  for (const limit of [1, 2, 3, 4, 5, 100]) {
    t.strictSame(await readPages(t, user.token, limit), ids.toReversed(), `${limit} at a time`);
  }
  t.equal((await list(user.token, '?limit=5')).body.data.next_cursor, null);
});

t.test('sessions of the same time are each listed once', async (t) => {
  const { user, ids } = await createSessions(4);
  await app.pool.query('UPDATE sessions SET created_at = now() WHERE user_id = $1', [user.id]);
  t.strictSame((await readPages(t, user.token, 2)).sort(), ids.sort());
});

t.test('a cursor stays right while sessions are added and removed', async (t) => {
  const { user, ids } = await createSessions(5);
  const first = (await list(user.token, '?limit=2')).body.data;
  await logIn(app, user);
  await end(user.token, String(ids[4]));
  await end(user.token, String(ids[2]));
  const second = await list(user.token, `?limit=2&cursor=${first.next_cursor}`);
  t.strictSame(idsOf(second), [ids[3], ids[1]]);
  const last = await list(user.token, `?limit=2&cursor=${second.body.data.next_cursor}`);
  t.strictSame(idsOf(last), [ids[0]]);
  t.equal(last.body.data.next_cursor, null);
});

t.test('a page has 20 sessions by default and at most 100', async (t) => {
  const { user } = await createSessions(0);
  await app.pool.query(
    `INSERT INTO sessions (id, user_id, rotated_at, user_agent, ip, created_at, expires_at)
     SELECT gen_random_uuid(), user_id, '{}', user_agent, ip, created_at - n * interval '1 s', expires_at
     FROM sessions, generate_series(1, 120) n WHERE user_id = $1`,
    [user.id],
  );
  t.equal((await list(user.token)).body.data.items.length, 20);
  t.equal((await list(user.token, '?limit=100')).body.data.items.length, 100);
});

t.test('a cursor that was not issued is invalid_cursor', async (t) => {
  const { user, ids } = await createSessions(1);
  const { next_cursor } = (await list(user.token, '?limit=1')).body.data;
  const encode = (text: string) => Buffer.from(text).toString('base64url');
  for (const cursor of [
    'x',
    '!!!',
    'null',
    '커서',
    '\u0000',
    `${next_cursor}A`,
    `${next_cursor}=`,
    next_cursor.slice(0, -2),
    next_cursor.slice(2),
    encode('1'),
    encode('_'),
    encode('1_2'),
    encode('1_x'),
    encode(`x_${ids[0]}`),
    encode(`-1_${ids[0]}`),
    encode(`99999999999999999999_${ids[0]}`),
    encode(`1_${ids[0]}' OR 1=1`),
    encode(`1_${ids[0]?.toUpperCase()}`),
    String(ids[0]),
  ]) {
    refused(t, await list(user.token, `?cursor=${encodeURIComponent(cursor)}`), 400, 'invalid_cursor');
  }
  t.equal((await list(user.token, '?cursor=x&limit=0')).body.data.code, 'validation_error');
});

t.test('the cursor of another user shows none of their sessions', async (t) => {
  const { user } = await createSessions(3);
  const { next_cursor } = (await list(user.token, '?limit=1')).body.data;
  const stranger = await createSessions(1);
  const seen = idsOf(await list(stranger.user.token, `?cursor=${next_cursor}`));
  t.ok(seen.every((id) => stranger.ids.includes(id)));
});
