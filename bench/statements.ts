import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { seedDatabase } from '../scripts/seed/database.ts';
import { startEmbeddedServer } from '../src/development/embedded-postgres/server.ts';
import { createPostRepository, type PostFilter } from '../src/domains/posts/repository.ts';
import { listStores } from '../src/domains/stores/repository.ts';
import { openDatabase, type Reader } from '../src/infrastructure/database/client.ts';
import { migrate } from '../src/infrastructure/database/migrations.ts';
import { type Sql, statementName } from '../src/infrastructure/database/sql.ts';
import { median } from './table.ts';

/*
 * npm run bench -- statements
 *
 * Reads lists of posts and stores with every combination of filters on one connection: how many statements stay prepared, how much
 * memory the connection then has, and how long warm pages take: where every text is prepared by name, and as the service does it.
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
  write('| prepared | lists | statements | MiB of the connection |');
  const ways = [await open('every text'), await open('as the service')];
  await compareTimes(ways.map(({ read }) => read));
  for (const { close } of ways) await close();
} finally {
  await postgres.stop();
  await rm(directory, { recursive: true, force: true });
}

type Read = (filter: PostFilter) => Promise<unknown>;

/** Opens a connection and reads all lists on it. */
async function open(way: 'every text' | 'as the service') {
  const { pool, close, ...database } = openDatabase({ url: postgres.url, poolSize: 1 });
  const named = ({ text, values }: Sql) => pool.query({ text, values, name: statementName(text) });
  const reader: Reader =
    way === 'every text' ? { query: async (statement) => (await named(statement)).rows } : database;
  const posts = createPostRepository({ ...database, ...reader });
  const filters = [...combinations()];
  for (const filter of filters) {
    await posts.list(filter);
    if (filter.status === 'open' && !filter.ownerId && !filter.storeId) await listStores(reader, filter);
  }
  const { rows } = await pool.query<{ statements: number; size: number }>(`
    SELECT (SELECT count(*)::int FROM pg_prepared_statements) AS statements,
      (SELECT sum(total_bytes)::float8 / 1048576 FROM pg_backend_memory_contexts) AS size`);
  write(`| ${[way, filters.length, rows[0]?.statements, rows[0]?.size.toFixed(1)].join(' | ')} |`);
  const read: Read = (filter) => posts.list(filter);
  return { close, read };
}

/** Medians of 200 warm calls of each way, in turns, so that other work on the machine meets both. */
async function compareTimes(ways: Read[]): Promise<void> {
  const all = { userId: 1, after: none, limit: 21, status: 'open', q: '', region: '', near: none } as const;
  const every: PostFilter = { ...all, ownerId: none, storeId: none, categoryId: none };
  write('| ms of a page | every text | as the service | ratio |');
  for (const [name, filter] of Object.entries({
    'every post': every,
    'of a category': { ...every, categoryId: 1 },
    'with a word': { ...every, q: '카페' },
    'with a word that is nowhere': { ...every, q: '없는낱말' },
  })) {
    const times = ways.map((): number[] => []);
    for (let turn = -10; turn < 200; turn++) {
      for (const [index, read] of ways.entries()) {
        const began = performance.now();
        await read(filter);
        if (turn >= 0) times[index]?.push(performance.now() - began);
      }
    }
    const [named = 0, now = 0] = times.map(median);
    write(`| ${[name, named.toFixed(2), now.toFixed(2), (now / named).toFixed(2)].join(' | ')} |`);
  }
}
