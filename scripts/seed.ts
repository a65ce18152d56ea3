import process from 'node:process';
import { parseArgs } from 'node:util';
import argon2 from 'argon2';
import pg from 'pg';
import { runScript, withMigratedDatabase } from './open-database.ts';

/*
 * npm run seed -- --users 10000 --posts 100000 --notifications 1000000
 *
 * Fills the database by bulk SQL, to try the service at size. Users are `seed_1`, `seed_2`, ..., each with a store and the
 * password below. Running it again adds more.
 */

const password = 'seed-password-for-trying';

const words = {
  names: [
    '두레',
    '봄날',
    '골목',
    '한빛',
    '달빛',
    '모퉁이',
    '느티나무',
    '햇살',
    '바람',
    '정다운',
    '오늘',
    '솔숲',
  ],
  kinds: [
    '카페',
    '식당',
    '베이커리',
    '술집',
    '마트',
    '옷가게',
    '미용실',
    '필라테스',
    '공방',
    '서점',
    '민박',
    '꽃집',
  ],
  wishes: [
    '공동 할인',
    '쿠폰 교환',
    '함께 여는 장터',
    '재료 공동 구매',
    '배달 나눔',
    '전시 협업',
    '동네 축제',
    '체험 수업',
  ],
};

/** The parameters of each statement are in `seed`. */
const statements: [label: string, sql: string][] = [
  [
    'users',
    `INSERT INTO users (username, email, name, password_hash, is_verified, created_at)
     SELECT 'seed_' || n, 'seed_' || n || '@seed.example', $2, $3, true, now() - random() * interval '2 years'
     FROM generate_series((SELECT count(*) FROM users WHERE username LIKE 'seed\\_%') + 1,
                          (SELECT count(*) FROM users WHERE username LIKE 'seed\\_%') + $1::int) AS n`,
  ],
  [
    'stores',
    `WITH made AS (
       INSERT INTO stores (owner_id, name, description, created_at)
       SELECT id, ($1::text[])[1 + id % cardinality($1::text[])] || ' ' || ($2::text[])[1 + id / 7 % cardinality($2::text[])],
         '함께 일할 이웃을 찾습니다.', created_at
       FROM users u WHERE username LIKE 'seed\\_%' AND NOT EXISTS (SELECT FROM stores s WHERE s.owner_id = u.id)
       RETURNING id)
     INSERT INTO store_category_links (store_id, category_id, position)
     SELECT made.id, c.id, 1 FROM made
     JOIN (SELECT id, row_number() OVER (ORDER BY id) - 1 AS place, count(*) OVER () AS total FROM store_categories) c
       ON c.place = made.id % c.total`,
  ],
  [
    'posts',
    `WITH seeded AS (SELECT array_agg(s.id) AS ids FROM stores s JOIN users u ON u.id = s.owner_id WHERE username LIKE 'seed\\_%')
     INSERT INTO posts (store_id, title, content, images, created_at)
     SELECT ids[1 + n % cardinality(ids)], ($2::text[])[1 + n % cardinality($2::text[])] || ' 파트너 구함 #' || n,
       '함께하고 싶은 일: ' || ($2::text[])[1 + n / 3 % cardinality($2::text[])] || '. 관심 있는 이웃은 연락해 주세요.',
       ARRAY['https://images.example.com/' || n || '.jpg'], now() - random() * interval '1 year'
     FROM seeded, generate_series(1, $1::int) AS n`,
  ],
  [
    'partner requests',
    // One request per four notifications; declined, because a store can have only one open request for a post.
    `WITH p AS (SELECT id, store_id, row_number() OVER () - 1 AS place, count(*) OVER () AS total FROM posts WHERE deleted_at IS NULL),
       s AS (SELECT array_agg(id) AS ids FROM stores WHERE closed_at IS NULL)
     INSERT INTO partner_requests (post_id, sender_store_id, receiver_store_id, status, message, created_at)
     SELECT p.id, s.ids[1 + (n * 7919) % cardinality(s.ids)], p.store_id, 'declined', '함께해요 ' || n, now() - random() * interval '1 year'
     FROM s, generate_series(1, greatest(1, $1::int / 4)) AS n JOIN p ON p.place = n % (SELECT max(total) FROM p)
     WHERE s.ids[1 + (n * 7919) % cardinality(s.ids)] <> p.store_id`,
  ],
  [
    'notifications',
    `WITH r AS (
       SELECT q.id, receiver.owner_id AS receiver_id, sender.owner_id AS sender_id, q.created_at,
         row_number() OVER (ORDER BY q.id DESC) - 1 AS place
       FROM partner_requests q
       JOIN stores receiver ON receiver.id = q.receiver_store_id AND receiver.owner_id IS NOT NULL
       JOIN stores sender ON sender.id = q.sender_store_id AND sender.owner_id IS NOT NULL)
     INSERT INTO notifications (user_id, kind, partner_request_id, is_read, created_at)
     SELECT CASE WHEN n % 2 = 0 THEN receiver_id ELSE sender_id END,
       (CASE WHEN n % 2 = 0 THEN 'partner_request_received' ELSE 'partner_request_declined' END)::notification_kind,
       r.id, random() < 0.8, created_at
     FROM generate_series(1, $1::int) AS n JOIN r ON r.place = n % (SELECT count(*) FROM r)`,
  ],
];

async function seed(
  url: string,
  counts: { users: number; posts: number; notifications: number },
): Promise<void> {
  const hash = await argon2.hash(password, {
    type: argon2.argon2id,
    memoryCost: 19_456,
    timeCost: 2,
    parallelism: 1,
  });
  const parameters: Record<string, unknown[]> = {
    users: [counts.users, '시드', hash],
    stores: [words.names, words.kinds],
    posts: [counts.posts, words.wishes],
    'partner requests': [counts.notifications],
    notifications: [counts.notifications],
  };
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query('BEGIN');
    // Creating the search index afterwards takes a fraction of the time.
    const { rows } = await client.query<{ indexdef: string }>(
      `SELECT indexdef FROM pg_indexes WHERE indexname = 'posts_search_idx'`,
    );
    await client.query('DROP INDEX posts_search_idx');
    for (const [label, sql] of statements) {
      const began = performance.now();
      const { rowCount } = await client.query(sql, parameters[label]);
      const seconds = ((performance.now() - began) / 1000).toFixed(1);
      process.stdout.write(`${label}: ${rowCount} in ${seconds} s\n`);
    }
    for (const { indexdef } of rows) await client.query(indexdef);
    await client.query('COMMIT');
    await client.query('VACUUM ANALYZE');
  } finally {
    await client.end();
  }
  process.stdout.write(`log in as seed_1 with the password ${password}\n`);
}

await runScript(async () => {
  const { values } = parseArgs({
    options: {
      users: { type: 'string', default: '1000' },
      posts: { type: 'string', default: '5000' },
      notifications: { type: 'string', default: '20000' },
    },
  });
  const counts = {
    users: Number(values.users),
    posts: Number(values.posts),
    notifications: Number(values.notifications),
  };
  if (Object.values(counts).some((count) => !Number.isSafeInteger(count) || count < 1) || counts.users < 2) {
    throw new Error(
      'usage: npm run seed -- --users N --posts N --notifications N (numbers, at least 2 users)',
    );
  }
  await withMigratedDatabase(({ database }) => seed(database.directUrl, counts));
});
