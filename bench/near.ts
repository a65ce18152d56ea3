import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { bulkLoad } from '../scripts/seed/bulk-load.ts';
import { seedDatabase } from '../scripts/seed/database.ts';
import { searchWords } from '../scripts/seed/texts.ts';
import { startEmbeddedServer } from '../src/development/embedded-postgres/server.ts';
import { createPostRepository } from '../src/domains/posts/repository.ts';
import { listStores, type StoreFilter } from '../src/domains/stores/repository.ts';
import { openDatabase } from '../src/infrastructure/database/client.ts';
import type { KeysetPosition } from '../src/infrastructure/database/keyset.ts';
import { migrate } from '../src/infrastructure/database/migrations.ts';
import { constant, raw, type Sql, sql } from '../src/infrastructure/database/sql.ts';
import { distanceSql, type Near } from '../src/infrastructure/search/near.ts';

/*
 * npm run bench -- near [--stores 300000 --posts 900000] [--repeat 20] [--keep directory]
 *
 * PostgreSQL's CPU time for pages of stores and posts around a place, and of the nearest stores by themselves, found by
 * PostgreSQL's own points and by its extensions `cube` and `earthdistance`. With `--keep`, the database is used again.
 */

const { values } = parseArgs({
  args: process.argv.slice(3),
  options: {
    stores: { type: 'string', default: '300000' },
    posts: { type: 'string', default: '900000' },
    repeat: { type: 'string', default: '20' },
    keep: { type: 'string' },
  },
});
const write = (line: string) => process.stdout.write(`${line}\n`);
const printRow = (name: string, cells: (string | number)[]) =>
  write(
    `| ${[name, ...cells.map((cell) => (typeof cell === 'number' ? cell.toFixed(1) : cell))].join(' | ')} |`,
  );

const seoul = { latitude: 37.55, longitude: 126.98 };
const around: Record<string, Near> = {
  'Seoul, 3 km': { ...seoul, radius: 3_000 },
  'Seoul, 50 km': { ...seoul, radius: 50_000 },
  'its edge, 50 km': { latitude: 37.4, longitude: 127.25, radius: 50_000 },
  'countryside, 50 km': { latitude: 36.9, longitude: 128.3, radius: 50_000 },
  'sea, 50 km': { latitude: 38.5, longitude: 131.5, radius: 50_000 },
};

const shownAt = 'store_place(s.latitude, s.longitude, s.show_exact_location)';
const isLocated = 's.closed_at IS NULL AND s.suspended_at IS NULL AND s.latitude IS NOT NULL';

const directory = values.keep ?? (await mkdtemp(join(tmpdir(), 'dure-near-')));
const postgres = await startEmbeddedServer({ directory });
const database = openDatabase({ url: postgres.url, poolSize: 1 });
try {
  await migrate(postgres.url);
  const [state] = await database.query<{ isReady: boolean }>(sql`
    SELECT EXISTS (SELECT FROM pg_class WHERE relname = 'stores_earth_idx') AS "isReady"`);
  if (!state?.isReady) await prepare(Number(values.stores), Number(values.posts));
  await benchCandidates();
  await benchPages();
} finally {
  await database.close();
  await postgres.stop();
  if (values.keep === undefined) await rm(directory, { recursive: true, force: true });
}

/**
 * Seeds the database, and moves the stores: seven of ten are in Seoul, most of them within 10 km of its middle, two in other cities,
 * one anywhere else. Adds the index of the extensions.
 */
async function prepare(stores: number, posts: number): Promise<void> {
  await seedDatabase(postgres.url, { users: stores, posts, notifications: 1_000 }, write);
  const [client, observer] = [
    new pg.Client({ connectionString: postgres.url }),
    new pg.Client({ connectionString: postgres.url }),
  ];
  await Promise.all([client.connect(), observer.connect()]);
  try {
    await bulkLoad({ client, observer, print: write }, { tables: ['stores'], rows: stores }, () =>
      client.query(`
        UPDATE stores s SET latitude = round((city.latitude + away * up)::numeric, 6),
          longitude = round((city.longitude + 1.26 * away * sideways)::numeric, 6), show_exact_location = s.id % 10 = 0
        FROM (SELECT id, random() AS chance, random_normal() AS up, random_normal() AS sideways FROM stores) r,
          (VALUES (0, 0.7, 37.55, 126.98, 0.06), (0.7, 0.8, 35.18, 129.07, 0.03), (0.8, 0.9, 35.87, 128.6, 0.03), (0.9, 1, 36.2, 127.9, 0.5))
            AS city (low, high, latitude, longitude, away)
        WHERE r.id = s.id AND chance >= low AND chance < high`),
    );
    await client.query(`
      CREATE EXTENSION cube;
      CREATE EXTENSION earthdistance;
      CREATE FUNCTION on_earth(place point) RETURNS earth LANGUAGE sql IMMUTABLE RETURN ll_to_earth(place[1], place[0]);
      CREATE INDEX stores_earth_idx ON stores USING gist (on_earth(${shownAt.replaceAll('s.', '')}))
        INCLUDE (id, latitude, longitude, show_exact_location) WHERE ${isLocated.replaceAll('s.', '')}`);
    await client.query('VACUUM ANALYZE');
  } finally {
    await Promise.all([client.end(), observer.end()]);
  }
}

/** CPU time of PostgreSQL in milliseconds, of the connection that answers: the median. */
async function measure(run: () => Promise<unknown>): Promise<number> {
  const [connection] = await database.query<{ pid: number }>(sql`SELECT pg_backend_pid() AS pid`);
  const now = () => Number(readFileSync(`/proc/${connection?.pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
  const times: number[] = [];
  // The first turns plan the statements.
  for (let turn = -3; turn < Number(values.repeat); turn++) {
    const began = now();
    await run();
    if (turn >= 0) times.push(now() - began);
  }
  return times.sort((one, other) => one - other)[times.length >> 1] ?? Number.NaN;
}

/** The nearest stores by distance: the service's way, and that of the extensions. */
function nearest(way: 'points' | 'cube', { latitude, longitude, radius }: Near, count: number): Sql {
  const [shown, located] = [raw(shownAt), raw(isLocated)];
  const radians = Math.PI / 180;
  const y = Math.asinh(Math.tan(latitude * radians)) / radians;
  const circle = radius / 111_195 / Math.cos((latitude + radius / 111_195) * radians);
  const onMap = sql`point(${longitude}::float8, ${y}::float8)`;
  const onEarth = sql`ll_to_earth(${latitude}::float8, ${longitude}::float8)`;
  const candidates = {
    points: sql`mercator(${shown}) <@ circle(${onMap}, ${circle}::float8) ORDER BY mercator(${shown}) <-> ${onMap}`,
    cube: sql`earth_box(${onEarth}, ${radius}::float8) @> on_earth(${shown}) ORDER BY on_earth(${shown}) <-> ${onEarth}`,
  };
  const center = [sql`${latitude}::float8`, sql`${longitude}::float8`] as const;
  return sql`
    WITH closest AS MATERIALIZED (
      SELECT s.id, ${shown} AS place FROM stores s WHERE ${located} AND ${candidates[way]} LIMIT ${constant(count)}
    )
    SELECT id, distance FROM (
      SELECT id, ${distanceSql([sql`place[1]`, sql`place[0]`], center)} AS distance FROM closest OFFSET 0) measured
    WHERE distance <= ${1_000 * radius}::bigint ORDER BY distance, id DESC`;
}

async function benchCandidates(): Promise<void> {
  const rows = await database.query<{ name: string; size: string }>(sql`
    SELECT relname AS name, pg_size_pretty(pg_relation_size(oid)) AS size FROM pg_class
    WHERE relname IN ('stores_place_idx', 'stores_earth_idx') ORDER BY 1 DESC`);
  write(rows.map(({ name, size }) => `${name} ${size}`).join(', '));
  printRow('nearest stores, ms', Object.keys(around));
  for (const count of [500, 5_000]) {
    for (const way of ['points', 'cube'] as const) {
      const cells: number[] = [];
      for (const near of Object.values(around))
        cells.push(await measure(() => database.query(nearest(way, near, count))));
      printRow(`${count}, ${way}`, cells);
    }
  }
}

async function benchPages(): Promise<void> {
  const categories = await database.query<{ id: number; name: string }>(
    sql`SELECT id, name FROM store_categories`,
  );
  const categoryOf = (name: string) => categories.find((one) => one.name === name)?.id;
  const filters = {
    '': {},
    ', category': { categoryId: categoryOf('카페') },
    ', rare category': { categoryId: categoryOf('숙박') },
    ', region': { region: '성동구' },
    ', frequent word': { q: '카페' },
    ', rare word': { q: searchWords.rare },
    ', no match': { q: '없는낱말' },
    ', frequent parts, no match': { q: searchWords.frequentParts },
    ', frequent parts of stores, no match': { q: searchWords.frequentPartsOfStores },
  };
  const near = { ...seoul, radius: 50_000 };
  const closest = await database.query<{ distance: number }>(nearest('points', near, 4_900));
  const deep = { time: closest.at(-1)?.distance ?? 0, id: '1' };
  const all = {
    userId: 0,
    ownerId: undefined,
    storeId: undefined,
    categoryId: undefined,
    region: '',
    q: '',
    limit: 21,
  };
  printRow('page, ms', [...Object.keys(around), 'Seoul, after 4,900 stores']);
  for (const [list, find] of [
    ['stores', (filter: StoreFilter) => listStores(database, filter)],
    ['posts', createPostRepository(database).list],
  ] as const) {
    for (const [name, filter] of Object.entries(filters)) {
      const cells: number[] = [];
      const read = (near: Near, after?: KeysetPosition) =>
        measure(() => find({ ...all, status: 'open', ...filter, near, after }));
      for (const one of Object.values(around)) cells.push(await read(one));
      cells.push(await read(near, deep));
      printRow(`${list}${name}`, cells);
    }
  }
}
