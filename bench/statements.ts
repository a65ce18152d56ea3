import { seedDatabase } from '../scripts/seed/database.ts';
import { createPostRepository, type PostFilter } from '../src/domains/posts/repository.ts';
import { listStores } from '../src/domains/stores/repository.ts';
import { openDatabase } from '../src/infrastructure/database/client.ts';
import { say, sayHead, sayRow } from './command-line.ts';
import { withDatabase } from './environment.ts';

const oneOf = <const Value>(...values: Value[]) => values;
const none = undefined;

/** Every combination of filters: 144 of posts, of which 16 are of stores, too. */
function* combinations(): Generator<PostFilter> {
  const rest = { userId: 1, after: none, limit: 21 };
  const near = { latitude: 37.55, longitude: 126.98, radius: 3_000 };
  for (const status of oneOf('open', 'closed', 'all'))
    for (const [ownerId, storeId] of [[], [1], [none, 1]])
      for (const q of oneOf('', '카페'))
        for (const region of oneOf('', '성동구'))
          for (const categoryId of oneOf(none, 1))
            for (const place of oneOf(none, near))
              yield { ...rest, status, ownerId, storeId, q, region, categoryId, near: place };
}

const fill = (url: string) => seedDatabase(url, { users: 2_000, posts: 20_000, notifications: 1_000 }, say);

/**
 * npm run bench -- statements
 *
 * Reads lists of posts and stores with every combination of filters on one connection: how many statements stay prepared, and how
 * much memory the connection then has.
 */
export async function countStatements(): Promise<void> {
  const read = async ({ url }: { url: string }) => {
    const { pool, close, ...database } = openDatabase({ url, poolSize: 1 });
    const posts = createPostRepository(database);
    let lists = 0;
    for (const filter of combinations()) {
      lists++;
      await posts.list(filter);
      const isOfStores = filter.status === 'open' && !filter.ownerId && !filter.storeId;
      if (!isOfStores) continue;
      lists++;
      await listStores(database, filter);
    }
    const { rows } = await pool.query<{ statements: number; size: number }>(`
      SELECT (SELECT count(*)::int FROM pg_prepared_statements) AS statements,
        (SELECT sum(total_bytes)::float8 / 1048576 FROM pg_backend_memory_contexts) AS size`);
    await close();
    sayHead(['lists', 'statements', 'MiB of the connection']);
    for (const { statements, size } of rows) sayRow([lists, statements, size.toFixed(1)]);
  };
  await withDatabase(read, { fill });
}
