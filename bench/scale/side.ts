import { type SeedCounts, seedDatabase } from '../../scripts/seed/database.ts';
import { seedPassword } from '../../scripts/seed/stores.ts';
import { execute } from '../../test/support/database.ts';
import { post } from '../../test/support/service.ts';
import { say } from '../command-line.ts';
import { withConnection } from '../data.ts';
import { type Environment, withDatabase } from '../environment.ts';
import type { Viewer } from './reads.ts';

/** Pages that are read to reach a position deep in a list. */
const deepPages = 50;
const ordinaryUsers = 20;

/** One size: its database, its service, and who reads. */
export interface Side {
  url: string;
  databaseUrl: string;
  /** The owner of a tenth of everything. */
  owner: Viewer[];
  ordinary: Viewer[];
}

/** What a database has, and where it is kept for the next run. */
type Options = SeedCounts & { folder: string | undefined };

/** Runs work on a seeded database with its service. */
export function withSide({ folder, ...counts }: Options, work: (side: Side) => Promise<void>): Promise<void> {
  return withDatabase(async (environment) => work(await openSide(environment, counts)), {
    folder,
    fill: (url) => seedOnce(url, counts),
  });
}

async function seedOnce(url: string, counts: SeedCounts): Promise<void> {
  const { rows } = await withConnection(url, (client) =>
    client.query<Pick<SeedCounts, 'users' | 'posts'>>(
      'SELECT (SELECT count(*) FROM users) AS users, (SELECT count(*) FROM posts) AS posts',
    ),
  );
  const [{ users, posts } = { users: 0, posts: 0 }] = rows;
  if (users === 0) return seedDatabase(url, counts, say);
  if (users !== counts.users || posts !== counts.posts)
    throw new Error(`there are ${users} users and ${posts} posts: choose another directory`);
  // For indexes of migrations that are new since.
  await execute(url, 'VACUUM ANALYZE');
}

async function openSide({ url: databaseUrl, start }: Environment, counts: SeedCounts): Promise<Side> {
  const { url } = await start({ ACCESS_TOKEN_TTL: '12h', WORKER_ENABLED: 'false' });
  const { rows } = await withConnection(databaseUrl, (client) =>
    client.query<{ number: number }>(`
      SELECT substring(title FROM '#(\\d+)$')::int AS number FROM posts
      WHERE id >= (SELECT (min(id) + max(id)) / 2 FROM posts) ORDER BY id LIMIT 1`),
  );

  async function logIn(place: number) {
    const login = await post(`${url}/auth/login/`, { username: `seed_${place}`, password: seedPassword });
    const token: string = JSON.parse(login.text).data.access;
    const read = async (path: string) => (await get(url, path, token)).data;
    const deepCursor = async (path: string) => {
      let [cursor, next]: (string | null)[] = ['', ''];
      for (let page = 0; page < deepPages && next !== null; page++)
        [cursor, next] = [next, (await read(`${path}${next && `?cursor=${next}`}`)).next_cursor];
      return next ?? cursor ?? '';
    };
    return { token, read, deepCursor };
  }

  const first = await logIn(1);
  const { items }: { items: { id: number; name: string }[] } = await first.read('/api/v1/stores/categories/');
  const shared = {
    categories: new Map(items.map(({ id, name }) => [name, id])),
    postNumber: rows[0]?.number ?? 0,
    deepPosts: await first.deepCursor('/api/v1/posts/'),
    deepStores: await first.deepCursor('/api/v1/stores/'),
  };
  const viewerOf = async ({ token, read, deepCursor }: typeof first): Promise<Viewer> => ({
    ...{ ...shared, token, storeId: (await read('/api/v1/stores/me/')).id },
    deepNotifications: await deepCursor('/api/v1/notifications/mypage/'),
  });
  const ordinary: Viewer[] = [];
  for (let index = 0; index < ordinaryUsers; index++) {
    const place = Math.floor((counts.users * (index + 0.5)) / ordinaryUsers);
    ordinary.push(await viewerOf(await logIn(Math.max(2, place))));
  }
  return { url, databaseUrl, owner: [await viewerOf(first)], ordinary };
}

/** One request, read to the end. @throws when it does not succeed */
export async function get(url: string, path: string, token: string) {
  const response = await fetch(url + path, { headers: { authorization: `Bearer ${token}` } });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path} was answered with ${response.status}`);
  return JSON.parse(text);
}
