import process from 'node:process';
import { createNotificationRepository } from '../src/domains/notifications/inbox/repository.ts';
import { savedSearchKinds } from '../src/domains/saved-searches/index.ts';
import { createSavedSearchRepository } from '../src/domains/saved-searches/repository.ts';
import { createSavedSearchService } from '../src/domains/saved-searches/service.ts';
import { openDatabase } from '../src/infrastructure/database/client.ts';
import { sql } from '../src/infrastructure/database/sql.ts';
import { createMailQueue } from '../src/infrastructure/mail/queue.ts';
import { execute } from '../test/support/database.ts';
import { startDatabase } from './servers.ts';

/*
 * npm run bench -- saved-searches
 *
 * How long it takes to match a new post with 100,000 saved searches, and to notify their users.
 */

/** Saved searches, each of another user. */
const count = 100_000;

/** One of 2,000 words. */
const word = "chr((44032 + n * 7919 % 2000)::int) || '빵 나눔'";

/** Of each of eight kinds as many: four with one filter, and four with a second one. Places are around Seoul, within 25 km. */
const mixed = `
  SELECT u, CASE WHEN kind IN (0, 4, 7) THEN ${word} END, CASE WHEN kind IN (1, 5) THEN (n % 18 + 1)::int END,
    CASE WHEN kind IN (2, 4, 5, 6) THEN '동네' || n * 7919 / 8 % 500 || '동' END,
    CASE WHEN kind IN (3, 6, 7) THEN point(127 + (n * 7919 % 1000 - 500) * 0.00056, 37.55 + (n * 104729 % 1000 - 500) * 0.00045) END
  FROM (SELECT n, u, n % 8 AS kind FROM numbered) n`;
const all = (q: string, category: string, region: string, place: string) =>
  `SELECT u, ${q}, ${category}, ${region}, ${place} FROM numbered`;

/** What is saved, by what the post finds. A tenth of the users wants emails. */
const searches: Record<string, string> = {
  'of all kinds': mixed,
  'a half matches: by text': all(
    "CASE WHEN n % 2 = 0 THEN '함께' ELSE '없는 말' END",
    'NULL::int',
    'NULL',
    'NULL::point',
  ),
  'a half matches: by place and text': all(
    "CASE WHEN n % 2 = 0 THEN '함께' ELSE '없는 말' END",
    'NULL::int',
    'NULL',
    'point(127, 37.55)',
  ),
  'none matches, all are near': all("'없는 말'", 'NULL::int', 'NULL', 'point(127, 37.55)'),
};

const { url, stop } = await startDatabase();
try {
  const database = openDatabase({ url, poolSize: 1 });
  await execute(
    url,
    `INSERT INTO users (username, email, name, is_verified, has_match_mails)
     SELECT 'searcher' || n, 'searcher' || n || '@example.com', '김두레', true, n % 10 = 0 FROM generate_series(1, ${count}) n`,
    `UPDATE stores SET latitude = 37.55, longitude = 127, region_keys = '{마포구,동네7동}' WHERE id = (SELECT min(id) FROM stores)`,
  );
  const savedSearches = createSavedSearchRepository(database);
  const outbox = {
    wake: () => undefined,
    add: async () => undefined,
    start: () => undefined,
    stop: async () => undefined,
  };
  const mailQueue = createMailQueue({ kinds: savedSearchKinds, keyId: 'key', outbox });
  const checkCategoryFilter = async () => undefined;
  const service = createSavedSearchService({
    database,
    outbox,
    mailQueue,
    savedSearches,
    notify: createNotificationRepository(database, outbox).notify,
    checkCategoryFilter,
  });
  await savedSearches.notifiedUpTo(0);
  process.stdout.write(
    '| 100,000 saved searches | users notified | to find them, ms | to find and notify them, ms |\n|---|---|---|---|\n',
  );
  for (const [name, filters] of Object.entries(searches)) {
    await execute(
      url,
      'TRUNCATE saved_searches, post_alerts, outbox, mail_sends',
      `INSERT INTO saved_searches (user_id, name, q, category_id, region, near, latitude, longitude)
       WITH numbered AS (
         SELECT n, id AS u FROM (SELECT id, row_number() OVER (ORDER BY id) AS n FROM users WHERE username LIKE 'searcher%') u)
       SELECT u, 'x', q, category, region, place[1] || ',' || place[0], place[1], place[0]
       FROM (${filters}) filters (u, q, category, region, place)`,
      'VACUUM ANALYZE saved_searches',
      'CHECKPOINT',
    );
    const [post] = await database.query<{ id: number }>(sql`
      INSERT INTO posts (store_id, title, content)
      SELECT min(id), '동네 가게가 함께하는 가빵 나눔', repeat('주말 이틀 동안 함께할 이웃 가게를 찾습니다. ', 40) FROM stores RETURNING id`);
    const id = post?.id ?? 0;
    const start = performance.now();
    const matches = await savedSearches.findMatches(id, 0);
    const found = performance.now();
    await service.notifyMatches(id);
    const end = performance.now();
    process.stdout.write(
      `| ${name} | ${matches.length} | ${(found - start).toFixed(0)} | ${(end - found).toFixed(0)} |\n`,
    );
  }
  await database.close();
} finally {
  await stop();
}
