import type { TestApp } from '../support/app.ts';
import type { Shop } from '../support/stores.ts';

/** Stores, and their owners, with ids from {@link first} on; posts are a few times as many. */
const stores = 3_000;
const first = 1_001;
const posts = 16_000;
/** Rows of one user where a user can have as many as they like. */
const many = 3_000;

/** Rows for each table that has few, a new one, too, with what must be given and the user: the number of a store wherever it fits. */
const fillOthers = `
  SELECT format('INSERT INTO %I (%s) SELECT %s FROM each_user WHERE (SELECT count(*) < 1000 FROM %1$I)', table_name,
    string_agg(column_name, ', '), string_agg(CASE data_type
      WHEN 'uuid' THEN 'gen_random_uuid()' WHEN 'boolean' THEN 'false' WHEN 'ARRAY' THEN $$'{}'$$
      WHEN 'timestamp with time zone' THEN $$now() + interval '1 day'$$
      WHEN 'USER-DEFINED' THEN format('(enum_range(NULL::%s))[1]', udt_name)
      ELSE format('n::text::%s', udt_name) END, ', '))
  FROM information_schema.columns
  WHERE table_schema = 'public' AND column_default IS NULL AND is_generated = 'NEVER'
    AND (is_nullable = 'NO' OR column_name = 'user_id')
    AND table_name !~ '^_|^notifications_|^(outbox|store_categories)$'
  GROUP BY table_name`;

/** Runs each statement that a query returns. */
const runEach = (query: string) => `DO $each$ DECLARE statement text; BEGIN
  FOR statement IN ${query} LOOP EXECUTE statement; END LOOP;
END $each$`;

/**
 * Fills the tables, so that a statement that reads more than it needs touches more pages than its budget.
 *
 * - Store n is the nth nearest of the place 37.55, 126.98, evenly within 12 km.
 * - One in three posts and stores has 카페, few have 희귀어, 희귀점, 드문길 or 드문구, half of the posts 예전; all have every part of
 *   가나다라 but not the whole. Two stores are of category 11.
 * - `most` wrote every other post, sent a request for each of the others, has most of the rows that a user has, and has read
 *   three notifications, the oldest.
 * - `partner` has a partner in each store, and a thousand accepted requests of `most`, which are the newest. It has read all
 *   notifications but three.
 */
export async function fillWorld({ pool }: TestApp, most: Shop, partner: Shop): Promise<void> {
  await pool.query(`BEGIN;
    SET LOCAL session_replication_role = replica;
    CREATE TEMP VIEW each_user AS SELECT generate_series(${first}, ${first + stores - 1}) AS n;
    CREATE TEMP VIEW many AS SELECT n, CASE WHEN n % 2 = 0 THEN ${most.id} ELSE ${first} + n % ${stores} END AS id
      FROM generate_series(1, ${2 * many}) n;
    -- Room on each page, so that only a change of an index keeps an update from being HOT.
    ${runEach("SELECT format('ALTER TABLE %s SET (fillfactor = 25)', oid::regclass) FROM pg_class WHERE reloptions::text ~ 'fillfactor'")};
    -- Created afterwards, they take a fraction of the time.
    CREATE TEMP TABLE late AS SELECT indexname, indexdef FROM pg_indexes WHERE indexname ~ '^(posts|stores)_search';
    ${runEach("SELECT 'DROP INDEX ' || indexname FROM late")};
    SELECT setval('users_id_seq', ${first + stores}), setval('stores_id_seq', ${first + stores});
    INSERT INTO users (id, username, email, name, password_hash, is_verified)
      SELECT n, 'seeded' || n, 'seeded' || n || '@example.com', '이름', 'x', true FROM each_user;
    INSERT INTO stores (id, owner_id, name, address, description, region_keys, latitude, longitude, show_exact_location,
        created_at)
      SELECT ${first - 1} + n, ${first - 1} + n,
        CASE WHEN n % 3 = 0 THEN '동네 카페' WHEN n % 1000 = 500 THEN '희귀점' ELSE '가게' END || n,
        CASE WHEN n % 1000 = 1 THEN '드문길 ' ELSE '큰길 ' END || n, '가나 다나 다라',
        ARRAY[CASE WHEN n % 1000 = 499 THEN '드문구' ELSE '큰구' END],
        37.55 + away * sin(n * 2.4) / 111.195, 126.98 + away * cos(n * 2.4) / 111.195 / cos(radians(37.55)), true,
        now() - interval '100 days' + n * interval '1 minute'
      FROM generate_series(1, ${stores}) n, LATERAL (SELECT 12 * sqrt(n / ${stores}.0) AS away) a;
    UPDATE stores SET search_text = search_key(name) || E'\\n' || search_key(address) || E'\\n' || search_key(description);
    INSERT INTO store_category_links (store_id, category_id, position)
      SELECT n, CASE WHEN n % 1500 = 7 THEN 11 ELSE 1 + n % 10 END, 1 FROM each_user;
    INSERT INTO posts (store_id, title, content, images, search_text, created_at)
      SELECT CASE WHEN n % 2 = 0 THEN ${most.store.id} WHEN n % 16 = 1 THEN ${partner.store.id} ELSE ${first} + n % ${stores} END,
        '글 ' || n, '함께', '{https://example.com/1.jpg}',
        CASE WHEN n % 3 = 0 THEN '카페' WHEN n % 2000 = 7 THEN '희귀어' ELSE '' END ||
        CASE WHEN n < ${posts / 2} THEN '예전' ELSE '' END || '가나다나다라', now() - interval '90 days' + n * interval '1 minute'
      FROM generate_series(1, ${posts}) n;
    INSERT INTO partner_requests (post_id, sender_store_id, receiver_store_id, status, message, created_at)
      SELECT id, CASE WHEN store_id = ${most.store.id} THEN ${first} + id % ${stores} ELSE ${most.store.id} END, store_id,
        CASE WHEN store_id = ${partner.store.id} THEN 'accepted'
          WHEN id <= 18 THEN (ARRAY['requested', 'accepted', 'withdrawn'])[1 + id / 2 % 3]
          ELSE 'declined' END::partner_request_status, '함께', created_at FROM posts;
    INSERT INTO partner_requests (post_id, sender_store_id, receiver_store_id, status, message, created_at, updated_at)
      SELECT DISTINCT ON (store_id) id, ${partner.store.id}, store_id, 'accepted', '함께', created_at, created_at
      FROM posts WHERE store_id >= ${first} ORDER BY store_id, id;
    INSERT INTO notification_counts (user_id, unread)
      SELECT n, ${many} FROM each_user UNION SELECT unnest(ARRAY[${most.id}, ${partner.id}]), ${many}
      ON CONFLICT (user_id) DO UPDATE SET unread = excluded.unread;
    -- A thousand rows in each partition.
    INSERT INTO notifications (user_id, kind, partner_request_id, is_read)
      SELECT ${first} + n % ${stores}, 'partner_request_received', 1 + n % ${many}, n % 2 = 0
      FROM generate_series(1, ${5 * many}) n;
    INSERT INTO notifications (user_id, kind, partner_request_id, is_read)
      SELECT CASE n % 3 WHEN 0 THEN ${first} + n % ${stores} WHEN 1 THEN ${most.id} ELSE ${partner.id} END,
        'partner_request_received', n % ${many} + 1, CASE n % 3 WHEN 1 THEN n <= 9 WHEN 2 THEN n > 9 ELSE n % 2 = 0 END
      FROM generate_series(1, ${3 * many}) n;
    INSERT INTO consents (user_id, kind, action) SELECT id, 'terms', 'given' FROM many;
    INSERT INTO images (user_id, key, state, width, height, created_at)
      SELECT CASE WHEN n % 20 = 0 THEN ${most.id} ELSE ${first} + n % ${stores} END, n, 'ready', 1, 1, now() - interval '2 days'
      FROM many;
    INSERT INTO reports (reporter_id, store_id, reason, created_at, closed_at, closed_by, action)
      SELECT id, ${first}, 'spam', now() - interval '2 days', now(), 'cli:operator', 'none' FROM many;
    -- As long as real reasons: where rows are short, counting them by the table costs as little as by an index.
    INSERT INTO failed_mails (user_id, kind, payload, reason, attempts)
      SELECT id, 'user_id', '{}', repeat('x', 200), 1 FROM many;
    INSERT INTO idempotency_keys (scope, key, request_hash) SELECT id || ':createPost', n, '' FROM many;
    INSERT INTO saved_searches (user_id, name, category_id, q, region) SELECT n, '이름', c, q, region
      FROM each_user, LATERAL (VALUES (18, NULL, NULL), (NULL, '없는말' || n, NULL), (NULL, NULL, '없는구' || n)) one (c, q, region);
    INSERT INTO saved_searches (user_id, name, near, latitude, longitude)
      SELECT n, '이름', '', 10 + n / 100.0, 10 FROM each_user;
    -- Of users who do not exist, so that no message is sent.
    INSERT INTO push_subscriptions (user_id, endpoint, p256dh, auth, user_agent) SELECT 1000000 + n, n, '', '', '' FROM each_user;
    INSERT INTO post_images (post_id, image_id) SELECT id, 1 + id % ${many} FROM posts WHERE store_id >= ${first};
    ${runEach(fillOthers)};
    ${runEach('SELECT indexdef FROM late')};
    -- As many as one user can have.
    UPDATE sessions SET user_id = ${most.id} WHERE user_id BETWEEN ${first} AND ${first + 89};
    COMMIT`);
  // The run writes commits late, and VACUUM marks no page as visible that has a row of one that is not written yet.
  await pool.query('CHECKPOINT');
  await pool.query('VACUUM ANALYZE');
}
