import { newestFirst, type PageRequest } from '../database/keyset.ts';
import { allOf, constant, raw, type Sql, sql } from '../database/sql.ts';
import type { Budget, SearchableList, SearchFilter, Source } from './sources.ts';

/*
 * Lists around a place. Places are PostgreSQL's own points, with longitude as x and latitude as y. Those are flat, so the index has
 * them on a map in the projection of Mercator, where a small circle stays a circle. The nearest ones on the map are candidates; the
 * haversine formula decides which are within the radius, and in which order.
 */

/** A place, and how far around it: a circle with neither a pole nor the date line, where the map ends. */
export interface Near {
  latitude: number;
  longitude: number;
  /** In metres. */
  radius: number;
}

/** The order of a list around a place, whose rows have a `distance`. */
export const nearestFirst = raw('ORDER BY distance, id DESC');

/** The place of the store `s` as others see it; null without a location. */
export const storePlace = raw('store_place(s.latitude, s.longitude, s.show_exact_location)');

/** In metres: the mean radius of the IUGG. */
const earthRadius = 6_371_008.8;
/** Of posts, how many of each store are listed. */
const maxPosts = 100;
/** How many rows one request examines. Finding the stores costs as much as examining that many more. */
const maxRows = 1_000;

/** SQL of a latitude and a longitude. */
type Coordinates = readonly [latitude: Sql, longitude: Sql];

/** Integer millimetres between two places. */
export function distanceSql(a: Coordinates, b: Coordinates): Sql {
  const cosine = ([latitude]: Coordinates) => sql`cos(radians(${latitude}))`;
  const halfSine = (axis: 0 | 1) => sql`sin(radians(${a[axis]} - ${b[axis]}) / 2) ^ 2`;
  const haversine = sql`${halfSine(0)} + ${cosine(a)} * ${cosine(b)} * ${halfSine(1)}`;
  return sql`(${constant(2_000 * earthRadius)} * asin(sqrt(least(1, ${haversine}))))::bigint`;
}

/**
 * Walks the stores around a place, and of posts the newest of each. Where another source follows, the rows end before the distance at
 * which a store may be missing.
 */
export function scanAround(
  list: SearchableList,
  filter: SearchFilter & { near: Near },
  budget: Budget,
): Source {
  const { near } = filter;
  // More than elsewhere before the last scan, which costs several times as much here.
  const count = budget.isLast ? budget.rows : 1.5 * budget.rows;
  const most = constant(count);
  const { center, radius } = circleOnMap(near);
  const onMap = sql`mercator(${storePlace})`;
  const candidates =
    filter.ofStore === undefined
      ? sql`${onMap} <@ circle(${center}, ${radius}::float8) ORDER BY ${onMap} <-> ${center} LIMIT ${most}`
      : sql`s.id = ${filter.ofStore}`;
  const closest = sql`closest AS MATERIALIZED (
    SELECT s.id, ${storePlace} AS place FROM stores s
    WHERE ${list.storeExists} AND s.latitude IS NOT NULL AND ${candidates})`;
  // What is further on the map than the last candidate is at least this far away.
  const last = sql`(SELECT mercator(place) <-> ${center} FROM closest OFFSET ${most} - 1 LIMIT 1)`;
  const reach = sql`coalesce(${last} * ${(1_000 * near.radius) / radius}::float8, 'infinity')`;
  const stores = sql`
    SELECT id, distance FROM (${withDistance(sql`SELECT * FROM closest`, near, filter)}) store
    WHERE ${allOf(budget.isLast ? [] : [sql`distance <= ${reach}`])}`;
  const examined = { ...budget, rows: Math.min(count, maxRows) };
  return {
    expressions: [closest],
    rows:
      list.table === 'stores'
        ? inOrder(stores, list, filter, examined)
        : postsOf(stores, list, filter, examined),
    isUsable: sql`(SELECT count(*) < ${most} FROM closest)`,
    budget: examined,
  };
}

/** `id` and `distance` of rows with `id` and `place` that are within the radius, and not before the position of a page. */
export function withDistance(placed: Sql, near: Near, { after }: PageRequest): Sql {
  const center = [sql`${near.latitude}::float8`, sql`${near.longitude}::float8`] as const;
  // Without `OFFSET`, the distance would be computed wherever it is used.
  return sql`
    SELECT id, distance FROM (
      SELECT id, ${distanceSql([sql`place[1]`, sql`place[0]`], center)} AS distance FROM (${placed}) placed OFFSET 0
    ) measured WHERE distance BETWEEN ${after?.time ?? 0}::bigint AND ${1_000 * near.radius}::bigint`;
}

/** The row `item` with the id of another one. The limit makes it a lookup of each, where a join could read the whole table. */
export function rowOf({ table }: SearchableList, other: 'candidate' | 'nearest'): Sql {
  return sql`LATERAL (SELECT * FROM ${raw(table)} WHERE id = ${raw(other)}.id LIMIT 1) item`;
}

/** The rows of some ids with a `distance`, the nearest first. Only ids are sorted, because rows are long. */
export function inOrder(ids: Sql, list: SearchableList, filter: SearchFilter, { rows }: Budget): Sql {
  return sql`
    SELECT item.*, nearest.distance FROM (
      SELECT * FROM (${ids}) nearby WHERE ${isAfter(filter)} ${nearestFirst} LIMIT ${constant(rows)}
    ) nearest JOIN ${rowOf(list, 'nearest')} USING (id)`;
}

/**
 * The newest posts of some stores. They are read store by store, as far as needed, and sorted where stores are at one distance. Of a
 * circle PostgreSQL expects a few stores, so that it would read the posts of all; of a series it expects a thousand rows.
 */
function postsOf(stores: Sql, list: SearchableList, filter: SearchFilter, { rows }: Budget): Sql {
  const { exists, isExamined = sql`true` } = list;
  return sql`
    SELECT item.*, distance FROM (
      SELECT ids[n] AS store_id, distances[n] AS distance
      FROM (SELECT array_agg(id) AS ids, array_agg(distance) AS distances FROM (${stores}) nearby) nearby,
        generate_series(1, cardinality(ids)) AS n ORDER BY distance
    ) store CROSS JOIN LATERAL (
      SELECT item.* FROM posts item WHERE item.store_id = store.store_id AND ${exists} AND ${isExamined}
      ${newestFirst} LIMIT ${constant(maxPosts)}
    ) item
    WHERE ${isAfter(filter)} ${nearestFirst} LIMIT ${constant(rows)}`;
}

function isAfter({ after }: PageRequest): Sql {
  return sql`(distance, -id) > (${after?.time ?? -1}::bigint, ${after === undefined ? 0 : -Number(after.id)}::bigint)`;
}

/** A circle on the map that has all places within the radius. Lengths on the map grow with the latitude; no place is near a pole. */
function circleOnMap({ latitude, longitude, radius }: Near): { center: Sql; radius: number } {
  const radians = (degrees: number) => (degrees * Math.PI) / 180;
  const degrees = (radians: number) => (radians * 180) / Math.PI;
  const furthest = Math.abs(radians(latitude)) + radius / earthRadius;
  const y = degrees(Math.asinh(Math.tan(radians(latitude))));
  return {
    center: sql`point(${longitude}::float8, ${y}::float8)`,
    // Larger by more than floating point rounds.
    radius: (1.000_001 * degrees(radius / earthRadius)) / Math.cos(furthest),
  };
}
