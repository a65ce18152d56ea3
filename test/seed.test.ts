import t from 'tap';
import { seedDatabase } from '../scripts/seed/database.ts';
import { seedPassword } from '../scripts/seed/stores.ts';
import { createTestApp, logIn } from './support/app.ts';
import { countRows } from './support/rows.ts';

const app = await createTestApp({ WORKER_ENABLED: 'false' });
const { pool, url } = app;

const counts = { users: 30, posts: 200, notifications: 1_000 };

/** Every index and constraint, as text. */
async function definitions(): Promise<string[]> {
  const { rows } = await pool.query<{ definition: string }>(`
    SELECT indexdef AS definition FROM pg_indexes WHERE schemaname = 'public'
    UNION ALL
    SELECT format('%s %s %s %s', conrelid::regclass, conname, pg_get_constraintdef(oid), convalidated) FROM pg_constraint
    WHERE connamespace = 'public'::regnamespace
    ORDER BY definition`);
  return rows.map(({ definition }) => definition);
}

const counted = async () => ({
  users: await countRows(app, 'stores'),
  posts: await countRows(app, 'posts'),
  notifications: await countRows(app, 'notifications'),
});

t.test('an interrupted run leaves all indexes and no part of a table', async (t) => {
  const before = await definitions();
  const interrupt = (line: string) => {
    if (line.startsWith('posts:')) throw new Error('interrupted');
  };
  await t.rejects(seedDatabase(url, counts, interrupt), { message: 'interrupted' });
  t.strictSame(await definitions(), before);
  t.strictSame(await counted(), { users: 30, posts: 0, notifications: 0 });
});

t.test('a run adds the rows that were asked for and says how far it is', async (t) => {
  const before = await definitions();
  const lines: string[] = [];
  await seedDatabase(url, counts, (line) => lines.push(line));
  const said =
    /^users with a store: 30 of 30, .*\nposts: 200 of 200, .*\n.*notifications .*: 1,000 of 1,000, /s;
  t.match(lines.join('\n'), said);
  t.strictSame(await definitions(), before);
  t.strictSame(await counted(), { users: 60, posts: 200, notifications: 1_000 });
  const numbered = await countRows(app, "users WHERE username ~ '^seed_([1-9]|[1-5][0-9]|60)$'");
  t.equal(numbered, 60, 'the second run continues the numbers of the first');
});

t.test('seed_1 has some of everything, which it reads through the API', async (t) => {
  const { token } = await logIn(app, { username: 'seed_1', password: seedPassword });
  const list = await app.call('GET', '/api/v1/notifications/mypage/?limit=100', { token });
  t.equal(list.body.data.items.length, 100);
  const { region } = (await app.call('GET', '/api/v1/stores/me/', { token })).body.data;
  const inRegion = `stores/?region=${encodeURIComponent(region.sigungu)}`;
  for (const path of [inRegion, 'saved-searches/', 'posts/?status=closed']) {
    const { items } = (await app.call('GET', `/api/v1/${path}`, { token })).body.data;
    t.ok(items.length > 0, path);
  }
});
