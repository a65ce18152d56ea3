import type { PageRequest } from './keyset.ts';
import { raw, type Sql, sql } from './sql.ts';

/*
 * Places are PostgreSQL's own points, with longitude as x and latitude as y. Those are flat, so the index has them on a map in the
 * projection of Mercator, where a small circle stays a circle. It gives candidates; the haversine formula gives the distances.
 */

/** A place, and how far around it. */
export interface Near {
  latitude: number;
  longitude: number;
  /** In metres. */
  radius: number;
}

/** The order of a list around a place, whose rows have a `distance`. */
export const nearestFirst = raw('ORDER BY distance, id DESC');

/** The place of the store `s` as others see it; its location must not be null. */
export const storePlace = raw('store_place(s.latitude, s.longitude, s.show_exact_location)');
const placeOnMap = sql`mercator(${storePlace})`;

/** In metres: the mean radius of the IUGG. */
const earthRadius = 6_371_008.8;
const radians = (degrees: number) => (degrees * Math.PI) / 180;
const degrees = (radians: number) => (radians * 180) / Math.PI;
/** Beyond it the map ends. */
const lastLatitude = radians(89.9);

/** SQL of a latitude and a longitude. */
type Coordinates = readonly [latitude: Sql, longitude: Sql];

/** Integer millimetres between two places. */
export function distanceSql(a: Coordinates, b: Coordinates): Sql {
  const cosine = ([latitude]: Coordinates) => sql`cos(radians(${latitude}))`;
  const halfSine = (axis: 0 | 1) => sql`sin(radians(${a[axis]} - ${b[axis]}) / 2) ^ 2`;
  const haversine = sql`${halfSine(0)} + ${cosine(a)} * ${cosine(b)} * ${halfSine(1)}`;
  return sql`(${raw(String(2_000 * earthRadius))} * asin(sqrt(least(1, ${haversine}))))::bigint`;
}

/** `id` and `distance` of those rows with `id` and `place` that are within the radius and not before the position of a page. */
export function withDistance(rows: Sql, near: Near, { after }: PageRequest): Sql {
  const center = [sql`${near.latitude}::float8`, sql`${near.longitude}::float8`] as const;
  // Without `OFFSET`, the distance would be computed wherever it is used.
  return sql`
    SELECT id, distance FROM (
      SELECT id, ${distanceSql([sql`place[1]`, sql`place[0]`], center)} AS distance FROM (${rows}) placed OFFSET 0
    ) measured WHERE distance BETWEEN ${after?.time ?? 0}::bigint AND ${1_000 * near.radius}::bigint`;
}

/** Whether a row with `id` and `distance` comes after the position of a page. */
export function isFurther({ after }: PageRequest): Sql {
  return sql`(distance, -id) > (${after?.time ?? -1}::bigint, ${after === undefined ? 0 : -Number(after.id)}::bigint)`;
}

/**
 * The stores around a place, by their distance on the map: `id` and `place` of at most `count`.
 *
 * @param isLocated the condition of the index on the store `s`
 */
export function closestStores(isLocated: Sql, near: Near, count: Sql): Sql {
  const { center, radius } = circleOnMap(near);
  return sql`
    SELECT s.id, ${storePlace} AS place FROM stores s
    WHERE ${isLocated} AND ${placeOnMap} <@ circle(${center}, ${radius}::float8)
    ORDER BY ${placeOnMap} <-> ${center} LIMIT ${count}`;
}

/** The distance in millimetres within which no store can be that is further on the map than a place. */
export function reachSql(place: Sql, near: Near): Sql {
  const { center, radius } = circleOnMap(near);
  return sql`(mercator(${place}) <-> ${center}) * ${(1_000 * near.radius) / radius}::float8`;
}

/** A circle on the map that has all places around one: lengths on the map grow with the latitude. */
function circleOnMap({ latitude, longitude, radius }: Near): { center: Sql; radius: number } {
  const furthest = Math.min(Math.abs(radians(latitude)) + radius / earthRadius, lastLatitude);
  const y = degrees(Math.asinh(Math.tan(radians(latitude))));
  return {
    center: sql`point(${longitude}::float8, ${y}::float8)`,
    // More than enough for what the rounding of floating point loses.
    radius: (1.000_001 * degrees(radius / earthRadius)) / Math.cos(furthest),
  };
}
