import argon2 from 'argon2';
import type pg from 'pg';
import { readRegion, regionKeys } from '../../src/domains/stores/regions.ts';
import { inBatches, type SeedRun } from './progress.ts';
import {
  categoryOf,
  searchWords,
  storeAddress,
  storeDescription,
  storeLocation,
  storeName,
} from './texts.ts';

const batchSize = 10_000;
const dayMs = 86_400_000;

/** The password of every seeded user. */
export const seedPassword = 'seed-password-for-trying';

/** The number of the last seeded user. */
async function lastNumber(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ last: number | null }>(`
    SELECT max(substr(username, 6)::int) AS last FROM users
    WHERE username LIKE 'seed\\_%' AND username ~ '^seed_[0-9]{1,9}$'`);
  return rows[0]?.last ?? 0;
}

/** Adds users, each with an open store of one category. They joined between two years and one year ago. */
export async function addUsersWithStores(run: SeedRun, users: number): Promise<void> {
  const { client } = run;
  const hash = await argon2.hash(seedPassword, {
    type: argon2.argon2id,
    memoryCost: 19_456,
    timeCost: 2,
    parallelism: 1,
  });
  const first = (await lastNumber(client)) + 1;
  const start = Date.now() - 731 * dayMs;
  await inBatches(run, { label: 'users with a store', total: users }, async (done) => {
    const size = Math.min(batchSize, users - done);
    const numbers = Array.from({ length: size }, (_, index) => first + done + index);
    const addresses = numbers.map(storeAddress);
    const regions = addresses.map(readRegion);
    const locations = numbers.map(storeLocation);
    await client.query(
      // The stores and their categories in one statement, because an open store must have one at the commit.
      `WITH row AS (
         SELECT * FROM unnest($1::int[], $2::text[], $3::text[], $4::float8[], $6::text[], $7::text[], $8::text[], $9::text[],
             $10::text[], $11::text[], $12::float8[], $13::float8[])
           AS row (n, store_name, category, time, address, description, sido, sigungu, dong, keys, latitude, longitude)
       ), created AS (
         INSERT INTO users (username, email, name, password_hash, is_verified, created_at)
         SELECT 'seed_' || n, 'seed_' || n || '@seed.example', '시드', $5, true, to_timestamp(time) FROM row ORDER BY n
         RETURNING id, username, created_at
       ), opened AS (
         INSERT INTO stores (owner_id, name, address, description, sido, sigungu, dong, region_keys, latitude, longitude,
           created_at, updated_at)
         SELECT created.id, store_name, address, description, sido, sigungu, dong, string_to_array(keys, ','), latitude, longitude,
           created_at, created_at
         FROM row JOIN created ON username = 'seed_' || n ORDER BY n
         RETURNING id, name
       )
       INSERT INTO store_category_links (store_id, category_id, position)
       SELECT opened.id, c.id, 1 FROM opened JOIN row ON store_name = opened.name JOIN store_categories c ON c.name = category`,
      [
        numbers,
        numbers.map(storeName),
        numbers.map(categoryOf),
        numbers.map((_, index) => (start + ((done + index) / users) * 365 * dayMs) / 1_000),
        hash,
        addresses,
        numbers.map(storeDescription),
        regions.map(({ sido }) => sido),
        regions.map(({ sigungu }) => sigungu),
        regions.map(({ dong }) => dong),
        regions.map((region) => regionKeys(region).join(',')),
        locations.map((location) => location?.latitude ?? null),
        locations.map((location) => location?.longitude ?? null),
      ],
    );
    return size;
  });
}

/** Adds a search to each seeded user who has none: a text, the category, the dong or the surroundings of the user's store. */
export async function addSavedSearches({ client }: SeedRun): Promise<void> {
  await client.query(
    `INSERT INTO saved_searches (user_id, name, q, category_id, region, near, latitude, longitude)
     SELECT s.owner_id, '우리 동네', CASE filter WHEN 0 THEN $1 END,
       CASE filter WHEN 1 THEN (SELECT category_id FROM store_category_links WHERE store_id = s.id LIMIT 1) END,
       CASE filter WHEN 2 THEN s.dong END,
       CASE filter WHEN 3 THEN s.latitude || ',' || s.longitude END,
       CASE filter WHEN 3 THEN s.latitude END, CASE filter WHEN 3 THEN s.longitude END
     FROM stores s JOIN users u ON u.id = s.owner_id,
       LATERAL (SELECT CASE WHEN s.latitude IS NULL THEN s.id % 3 ELSE s.id % 4 END AS filter) chosen
     WHERE u.username LIKE 'seed\\_%' AND NOT EXISTS (SELECT FROM saved_searches WHERE user_id = u.id)`,
    [searchWords.frequent],
  );
}

/** The ids of the open stores of seeded users, that of `seed_1` first. */
export async function seededStores(client: pg.Client): Promise<Int32Array> {
  const { rows } = await client.query<{ ids: number[] }>(`
    SELECT array_agg(s.id ORDER BY u.username <> 'seed_1', s.id) AS ids
    FROM users u JOIN stores s ON s.owner_id = u.id
    WHERE u.username LIKE 'seed\\_%' AND s.closed_at IS NULL AND s.suspended_at IS NULL`);
  return Int32Array.from(rows[0]?.ids ?? []);
}
