import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { seedDatabase } from '../scripts/seed/database.ts';
import { startEmbeddedServer } from '../src/development/embedded-postgres/server.ts';
import { int8AsNumber } from '../src/infrastructure/database/client.ts';
import { migrate } from '../src/infrastructure/database/migrations.ts';

/*
 * npm run bench -- edits [--edits 112,300,1000]
 *
 * The size of the search index of posts while one post is edited, each time with 5,000 random syllables. VACUUM runs after every
 * 50 edits, as autovacuum does with so few rows.
 */

const { values } = parseArgs({
  args: process.argv.slice(3),
  options: { edits: { type: 'string', default: '112,300,1000' } },
});
const steps = values.edits.split(',').map(Number);

const directory = await mkdtemp(join(tmpdir(), 'dure-edits-'));
const postgres = await startEmbeddedServer({ directory });
const client = new pg.Client({ connectionString: postgres.url, types: int8AsNumber });
try {
  await migrate(postgres.url);
  await client.connect();
  await seedDatabase(postgres.url, { users: 40, posts: 40, notifications: 40 }, () => undefined);
  let edits = 0;
  for (const step of [0, ...steps]) {
    for (; edits < step; edits++) {
      await client.query(`
        UPDATE posts SET content = (
          SELECT string_agg(chr(44032 + floor(random() * 11172)::int), '') FROM generate_series(1, 5000))
        WHERE id = 1`);
      if (edits % 50 === 49) await client.query('VACUUM posts');
    }
    const { rows } = await client.query<{ name: string; kib: number }>(`
      SELECT indexrelid::regclass::text AS name, pg_relation_size(indexrelid) / 1024 AS kib
      FROM pg_index WHERE indrelid = 'posts'::regclass AND indexrelid::regclass::text LIKE '%search%' ORDER BY 1`);
    const sizes = rows.map(({ name, kib }) => `${name} ${kib} KiB`).join(', ');
    process.stdout.write(`${edits} edits: ${sizes}\n`);
  }
} finally {
  await client.end();
  await postgres.stop();
  await rm(directory, { recursive: true, force: true });
}
