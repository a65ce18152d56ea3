import { inBatches, type SeedRun } from './progress.ts';
import { mix, postText } from './texts.ts';

const batchSize = 10_000;

/** The posts of this run, oldest first: a few bytes for each, so that a million fit in memory. */
export interface SeededPosts {
  ids: Int32Array;
  /** The position of each post's store in the list of stores. */
  stores: Int32Array;
  /** When each was written, in seconds since 1970. */
  timeOf(position: number): number;
}

/** One in five posts is closed but the oldest one, one in twelve of the others closes within two months. @returns days from today */
function lastDayOf(position: number): number | null {
  const chance = position === 0 ? 99 : mix(position, 24) % 60;
  if (chance < 12) return -1;
  return chance < 16 ? mix(position, 25) % 60 : null;
}

/** Adds posts, one in ten of the first store, evenly over the year that ended yesterday, so that no quota is used up. */
export async function addPosts(run: SeedRun, stores: Int32Array, total: number): Promise<SeededPosts> {
  const { client } = run;
  const day = 86_400;
  const start = Date.now() / 1_000 - 366 * day;
  const posts: SeededPosts = {
    ids: new Int32Array(total),
    stores: Int32Array.from({ length: total }, (_, n) =>
      n % 10 === 0 ? 0 : 1 + (mix(n, 20) % (stores.length - 1)),
    ),
    timeOf: (position) => start + (position / total) * 365 * day,
  };
  const { rows } = await client.query<{ last: number }>('SELECT coalesce(max(id), 0) AS last FROM posts');
  const first = (rows[0]?.last ?? 0) + 1;
  await inBatches(run, { label: 'posts', total }, async (done) => {
    const size = Math.min(batchSize, total - done);
    const positions = Array.from({ length: size }, (_, index) => done + index);
    const texts = positions.map((position) => postText(first + position, position));
    const { rows: added } = await client.query<{ id: number; n: number }>(
      `INSERT INTO posts (store_id, title, content, images, closes_on, closed_at, created_at, updated_at)
       SELECT store_id, title, content, CASE WHEN n % 5 = 0 THEN '{}' ELSE ARRAY['https://images.example.com/' || n || '.jpg'] END,
         (now() AT TIME ZONE 'Asia/Seoul')::date + last_day, CASE WHEN last_day < 0 THEN now() END, to_timestamp(time), to_timestamp(time)
       FROM unnest($1::int[], $2::int[], $3::text[], $4::text[], $5::float8[], $6::int[])
         AS post (n, store_id, title, content, time, last_day)
       ORDER BY n
       RETURNING id, substring(title FROM '#(\\d+)$')::int AS n`,
      [
        positions.map((position) => first + position),
        positions.map((position) => stores[posts.stores[position] ?? 0]),
        texts.map(({ title }) => title),
        texts.map(({ content }) => content),
        positions.map(posts.timeOf),
        positions.map(lastDayOf),
      ],
    );
    for (const { id, n } of added) posts.ids[n - first] = id;
    return size;
  });
  return posts;
}
