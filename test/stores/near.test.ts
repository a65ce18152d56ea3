import fc from 'fast-check';
import t from 'tap';
import { listStores } from '../../src/domains/stores/repository.ts';
import type { KeysetPosition } from '../../src/infrastructure/database/keyset.ts';
import { createTestApp, createUser, readPages } from '../support/app.ts';
import { openTestDatabase } from '../support/database.ts';
import type { Json } from '../support/json.ts';
import { idsIn } from '../support/stores.ts';

const app = await createTestApp();
const { token } = await createUser(app);

type Place = [latitude: number, longitude: number];

/** A store with a post. */
interface Given {
  at?: Place;
  /** Shows its exact location. */
  exact?: boolean;
  category?: number;
  /** The title of its post, too. */
  name?: string;
  posts?: number;
}

let places = 0;

/** A place in the Pacific, more than 150 km from those of other tests. */
function newPlace(): Place {
  places += 1;
  return [1.5 * places, -150];
}

/** A place so many metres north of another. */
const north = ([latitude, longitude]: Place, metres: number): Place => [
  latitude + metres / 111_195.0802,
  longitude,
];

/** Adds stores, each with its posts. @returns the ids of the stores, and those of their posts */
async function addStores(stores: Given[]): Promise<{ stores: number[]; posts: number[][] }> {
  const given = stores.map(({ at, ...one }, n) => ({ n, latitude: at?.[0], longitude: at?.[1], ...one }));
  const { rows } = await app.pool.query<{ id: number; posts: number[] }>(
    `WITH given AS (
       SELECT n, nextval('stores_id_seq')::int AS id, coalesce(name, '가게') AS name, coalesce(category, 1) AS category,
         coalesce(exact, false) AS exact, coalesce(posts, 1) AS posts, latitude, longitude
       FROM json_to_recordset($1) AS g (n int, name text, latitude float8, longitude float8, exact bool, category int, posts int)
     ), added AS (
       INSERT INTO stores (id, name, latitude, longitude, show_exact_location)
       SELECT id, name, latitude, longitude, exact FROM given
     ), linked AS (
       INSERT INTO store_category_links (store_id, category_id, position) SELECT id, category, 1 FROM given
     ), written AS (
       INSERT INTO posts (store_id, title, content, images)
       SELECT id, name, '함께해요', '{}' FROM given, generate_series(1, posts) ORDER BY n RETURNING id, store_id
     )
     SELECT id, (SELECT coalesce(array_agg(w.id ORDER BY w.id), '{}') FROM written w WHERE store_id = given.id) AS posts
     FROM given ORDER BY n`,
    [JSON.stringify(given)],
  );
  return { stores: rows.map(({ id }) => id), posts: rows.map(({ posts }) => posts.map(Number)) };
}

type List = 'stores' | 'posts';

function read(list: List, [latitude, longitude]: Place, query = '') {
  return app.call('GET', `/api/v1/${list}/?near=${latitude},${longitude}${query}`, { token });
}

/** The ids and distances of the first page. */
async function found(list: List, at: Place, query = ''): Promise<[id: number, distance: number][]> {
  const { body } = await read(list, at, query);
  return body.data.items.map(({ id, distance_m }: Json) => [id, distance_m]);
}

const ids = async (list: List, at: Place, query = '') => idsIn(await read(list, at, query));
const allIds = async (list: List, at: Place, query: string) =>
  (await readPages((cursor) => read(list, at, query + cursor))).flat();

/** Metres by the haversine formula. */
function distance(a: Place, b: Place): number {
  const radians = (degrees: number) => (degrees * Math.PI) / 180;
  const halfSine = (axis: 0 | 1) => Math.sin(radians(a[axis] - b[axis]) / 2) ** 2;
  const haversine = halfSine(0) + Math.cos(radians(a[0])) * Math.cos(radians(b[0])) * halfSine(1);
  return 2 * 6_371_008.8 * Math.asin(Math.sqrt(haversine));
}

/** A number to three decimals. */
const rounded = (degrees: number) => Math.round(degrees * 1_000) / 1_000;

t.test('stores and posts come nearest first, with their distance in metres', async (t) => {
  const at = newPlace();
  const exact = true;
  const { stores, posts } = await addStores([
    { at: north(at, 2_990), exact },
    { at: north(at, -500), exact },
    { at: north(at, 3_010), exact },
    { at, exact, posts: 2 },
    {},
  ]);
  const [far, near, , here] = stores;
  t.strictSame(await found('stores', at), [
    [here, 0],
    [near, 500],
    [far, 2_990],
  ]);
  t.strictSame(await found('stores', at, '&radius_m=100'), [[here, 0]]);
  const [[ofFar], [ofNear], , [older, newer]] = posts as [number[], number[], number[], number[]];
  t.strictSame(await found('posts', at), [
    [newer, 0],
    [older, 0],
    [ofNear, 500],
    [ofFar, 2_990],
  ]);
  for (const list of ['stores', 'posts']) {
    const { body } = await app.call('GET', `/api/v1/${list}/`, { token });
    t.equal(body.data.items[0].distance_m, null, `${list} without a place`);
  }
});

t.test('a distance says no more than the rounded location', async (t) => {
  const at = newPlace();
  const [latitude, longitude] = at;
  const shift = { at: [latitude + 0.012_4, longitude - 0.008_6] as Place };
  const { stores } = await addStores([
    { at: [latitude + 0.011_6, longitude - 0.009_4] },
    shift,
    { ...shift, exact: true },
  ]);
  const shown = distance(at, [latitude + 0.012, longitude - 0.009]);
  const whole = distance(at, shift.at);
  t.strictSame(
    await found('stores', at),
    [
      [stores[2], Math.round(whole)],
      [stores[1], Math.round(shown)],
      [stores[0], Math.round(shown)],
    ].sort(([, a = 0], [, b = 0]) => a - b),
  );
  // Neither does the order of those around the place itself, nor the radius.
  const corner: Place = [latitude + 0.011_6, longitude - 0.009_4];
  const both = [stores[1], stores[0]];
  t.strictSame(await ids('stores', corner, '&radius_m=100'), both, 'both are at the same distance');
});

t.test('pages neither repeat nor leave out stores and posts, also at one place', async (t) => {
  const at = newPlace();
  const { stores, posts } = await addStores(
    Array.from({ length: 12 }, (_, n) => ({ at: north(at, n < 9 ? 0 : 111.2), posts: n === 3 ? 5 : 1 })),
  );
  const byIdInPlace = (one: number[]) => one.toSorted((a, b) => b - a);
  const expected = {
    stores: [...byIdInPlace(stores.slice(0, 9)), ...byIdInPlace(stores.slice(9))],
    posts: [...byIdInPlace(posts.slice(0, 9).flat()), ...byIdInPlace(posts.slice(9).flat())],
  };
  for (const list of ['stores', 'posts'] as const)
    for (const limit of [1, 4, 100])
      t.strictSame(await allIds(list, at, `&limit=${limit}`), expected[list], `${list}, ${limit} a page`);
});

t.test('pages go on while stores move and are added', async (t) => {
  const at = newPlace();
  const row = (metres: number) => ({ at: north(at, metres), exact: true });
  const { stores } = await addStores([100, 200, 300, 400, 500].map(row));
  const [first, second, third, fourth, fifth] = stores;
  const page = async (cursor = '') => {
    const response = await read('stores', at, `&limit=2${cursor}`);
    return { ids: idsIn(response), next: `&cursor=${response.body.data.next_cursor}` };
  };
  const move = (id: number | undefined, metres: number) =>
    app.pool.query('UPDATE stores SET latitude = $2 WHERE id = $1', [id, north(at, metres)[0]]);
  const one = await page();
  t.strictSame(one.ids, [first, second]);
  // The last one that was read moves, one that was not moves behind it, and stores open on both sides.
  await move(second, 450);
  await move(third, 150);
  const { stores: added } = await addStores([row(50), row(250)]);
  const two = await page(one.next);
  t.strictSame(two.ids, [added[1], fourth]);
  t.strictSame((await page(two.next)).ids, [second, fifth]);
});

t.test('closed, suspended, hidden and unlocated stores and their posts are not around', async (t) => {
  const at = newPlace();
  const { stores, posts } = await addStores(Array.from({ length: 7 }, () => ({ at })));
  const [open, closed, suspended, hidden, unlocated, quiet, over] = stores;
  const set = (id: number | undefined, change: string) =>
    app.pool.query(`UPDATE stores SET ${change} WHERE id = $1`, [id]);
  await set(closed, 'closed_at = now()');
  await set(suspended, 'suspended_at = now()');
  await set(hidden, 'hidden_at = now()');
  await set(unlocated, 'latitude = NULL, longitude = NULL');
  await app.pool.query('UPDATE posts SET hidden_at = now() WHERE store_id = $1', [quiet]);
  await app.pool.query('UPDATE posts SET closed_at = now() WHERE store_id = $1', [over]);
  t.strictSame(await ids('stores', at), [over, quiet, open]);
  t.strictSame(await ids('posts', at), posts[0]);
  t.strictSame(await ids('posts', at, '&status=closed'), posts[6]);
  t.strictSame(await ids('posts', at, '&status=all'), [posts[6]?.[0], posts[0]?.[0]]);
});

t.test('all filters apply together', async (t) => {
  const at = newPlace();
  const { stores, posts } = await addStores([
    { at: north(at, 400), category: 13, name: '꽃 카페' },
    { at: north(at, 300), category: 13, name: '꽃집' },
    { at: north(at, 200), category: 1, name: '책 카페' },
    { at: north(at, 100), category: 13, name: '들꽃 카페' },
    { at: north(at, 9_000), category: 13, name: '먼 꽃 카페' },
  ]);
  const mapo = stores.filter((_, index) => index !== 3);
  await app.pool.query(`UPDATE stores SET region_keys = '{마포구,망원동}' WHERE id = ANY ($1)`, [mapo]);
  const q = `&q=${encodeURIComponent('꽃')}`;
  const region = `&region=${encodeURIComponent('마포구')}`;
  for (const [list, own] of [
    ['stores', stores],
    ['posts', posts.flat()],
  ] as const) {
    t.strictSame(await ids(list, at, q), [own[3], own[1], own[0]], list);
    t.strictSame(await ids(list, at, '&category_id=13'), [own[3], own[1], own[0]], list);
    t.strictSame(await ids(list, at, region), [own[2], own[1], own[0]], list);
    const all = `${q}${region}&category_id=13`;
    t.strictSame(await ids(list, at, all), [own[1], own[0]], list);
    t.strictSame(await ids(list, at, `${all}&radius_m=10000`), [own[1], own[0], own[4]], list);
  }
  t.strictSame(await ids('posts', at, `&store_id=${stores[2]}`), posts[2]);
  t.strictSame(await ids('posts', at, `&store_id=${stores[4]}`), [], 'too far');
});

t.test('the nearest store comes first, although 500 others look nearer on a flat map', async (t) => {
  const at: Place = [60, -140];
  // Maps stretch what is nearer to the pole.
  const others = Array.from({ length: 500 }, () => ({ at: north(at, -49_000), exact: true, posts: 0 }));
  const { stores } = await addStores([{ at: north(at, 48_900), exact: true }, ...others]);
  t.strictSame(await found('stores', at, '&radius_m=50000&limit=1'), [[stores[0], 48_900]]);
  t.equal((await found('posts', at, '&radius_m=48905')).length, 1, 'the only one within this radius');
});

t.test('of each store, the newest 100 posts are listed', async (t) => {
  const at = newPlace();
  const { posts } = await addStores([{ at, posts: 103 }, { at: north(at, 200) }]);
  const [many = [], other = []] = posts;
  t.strictSame(await allIds('posts', at, '&limit=60'), [...many.slice(3).reverse(), ...other]);
});

t.test('any place is answered, except near the poles and the date line', async (t) => {
  for (const latitude of [80, -80, 0]) {
    for (const longitude of [177, -177]) {
      const at = north([latitude, longitude], latitude > 0 ? 40_000 : -40_000);
      const { stores } = await addStores([{ at }]);
      for (const query of ['', '&category_id=1&q=%EA%B0%80%EA%B2%8C'])
        t.strictSame(await ids('stores', [latitude, longitude], `&radius_m=50000${query}`), stores);
    }
  }
});

t.test('a place that is none and a radius without a place are rejected', async (t) => {
  const wrong = ['37.5', '37.5,', ',127', '80.1,0', '-90,0', '0,177.5', '0,-180', '1e1,2', '1,2,3', 'a,b'];
  for (const list of ['stores', 'posts']) {
    const get = (query: string) => app.call('GET', `/api/v1/${list}/?${query}`, { token });
    const refused = async (query: string, field: string, code: string) =>
      t.match((await get(query)).body.data.errors, [{ field, code }], query);
    for (const near of [...wrong, '3, 4', '.5,1'])
      await refused(`near=${encodeURIComponent(near)}`, 'near', 'invalid_format');
    await refused('near=&radius_m=500', 'radius_m', 'not_allowed');
    for (const query of ['near=&radius_m=', 'near=-80.0,177.000', 'near=37,127&radius_m='])
      t.equal((await get(query)).status, 200);
  }
});

t.test('every store within the radius is found, in the order of the haversine formula', async (t) => {
  const spread = fc.double({ min: -0.6, max: 0.6, noNaN: true });
  const property = fc.asyncProperty(
    fc.double({ min: -80, max: 80, noNaN: true }),
    fc.array(fc.record({ up: spread, right: spread, exact: fc.boolean() }), { minLength: 20, maxLength: 60 }),
    fc.integer({ min: 100, max: 50_000 }),
    async (latitude, given, radius) => {
      const at: Place = [Number(latitude.toFixed(6)), 170];
      await app.pool.query('UPDATE stores SET closed_at = now() WHERE longitude > 168');
      const all = given.map(({ up, right, exact }) => {
        const place: Place = [Number((at[0] + up).toFixed(6)), Number((at[1] + right).toFixed(6))];
        return { at: place, exact, shown: exact ? place : (place.map(rounded) as Place) };
      });
      const { stores } = await addStores(all);
      // In millimetres. Which of two is nearer by less than one, PostgreSQL and JavaScript may round differently.
      const far = new Map(all.map(({ shown }, index) => [stores[index] ?? 0, 1_000 * distance(at, shown)]));
      const farOf = (id: number) => far.get(id) ?? Number.NaN;
      const pages = await readPages((cursor) => read('stores', at, `&radius_m=${radius}&limit=7${cursor}`));
      const found = pages.flat();
      const isSorted = found.every((id, index) => {
        const [before = id, here] = [found[index - 1], farOf(id)];
        return farOf(before) < here + 1 && (before === id || farOf(before) !== here || before > id);
      });
      const missing = [...far.keys()].filter((id) => farOf(id) < 1_000 * radius - 1 && !found.includes(id));
      const tooFar = found.filter((id) => !(farOf(id) <= 1_000 * radius + 1));
      t.strictSame({ isSorted, missing, tooFar }, { isSorted: true, missing: [], tooFar: [] });
      t.equal(new Set(found).size, found.length);
      return isSorted && missing.length + tooFar.length === 0;
    },
  );
  await fc.assert(property, { numRuns: 12 });
});

t.test('lists around a place end after the nearest stores, unless an index finds all', async (t) => {
  const at = newPlace();
  const { stores } = await addStores(
    Array.from({ length: 100 }, (_, n) => ({
      ...{ at: north(at, 100 * n), exact: true },
      category: n % 40 === 39 ? 11 : 1,
    })),
  );
  const database = openTestDatabase(t, app.url);
  const near = { latitude: at[0], longitude: at[1], radius: 50_000 };
  const walk = async (categoryId?: number) => {
    const budgets = { first: { rows: 20, textBytes: 1e6 }, most: { rows: 60, textBytes: 1e6, isLast: true } };
    const ids: number[] = [];
    for (let after: KeysetPosition | undefined; ; ) {
      const filter = { q: '', categoryId, region: '', near, after, limit: 10 };
      const { rows, stoppedAt } = await listStores(database, filter, budgets);
      ids.push(...rows.map(({ id }) => id));
      const last = rows.length === 10 ? rows.at(-1) : undefined;
      after = last ? { time: last.distance ?? 0, id: String(last.id) } : stoppedAt;
      if (after === undefined) return ids;
    }
  };
  t.strictSame(await walk(), stores.slice(0, 60));
  t.strictSame(await walk(11), [stores[39], stores[79]], 'one is further than the nearest sixty');
});
