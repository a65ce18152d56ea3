import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { seedDatabase } from '../scripts/seed/database.ts';
import { startEmbeddedServer } from '../src/development/embedded-postgres/server.ts';
import { createPostRepository, type PostFilter } from '../src/domains/posts/repository.ts';
import { listStores } from '../src/domains/stores/repository.ts';
import { openDatabase } from '../src/infrastructure/database/client.ts';
import { migrate } from '../src/infrastructure/database/migrations.ts';

/*
 * npm run bench -- statements
 *
 * Reads lists of posts and stores with every combination of filters on one connection: how many statements stay prepared, and how
 * much memory the connection then has.
 */

const write = (line: string) => process.stdout.write(`${line}\n`);
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

const directory = await mkdtemp(join(tmpdir(), 'dure-statements-'));
const postgres = await startEmbeddedServer({ directory });
try {
  await migrate(postgres.url);
  await seedDatabase(postgres.url, { users: 2_000, posts: 20_000, notifications: 1_000 }, write);
  const { pool, close, ...database } = openDatabase({ url: postgres.url, poolSize: 1 });
  const posts = createPostRepository(database);
  const filters = [...combinations()];
  for (const filter of filters) {
    await posts.list(filter);
    if (filter.status === 'open' && !filter.ownerId && !filter.storeId) await listStores(database, filter);
  }
  const { rows } = await pool.query<{ statements: number; size: number }>(`
    SELECT (SELECT count(*)::int FROM pg_prepared_statements) AS statements,
      (SELECT sum(total_bytes)::float8 / 1048576 FROM pg_backend_memory_contexts) AS size`);
  write('| lists | statements | MiB of the connection |');
  write(`| ${[filters.length, rows[0]?.statements, rows[0]?.size.toFixed(1)].join(' | ')} |`);
  await close();
} finally {
  await postgres.stop();
  await rm(directory, { recursive: true, force: true });
}
