-- A place, with longitude as x and latitude as y, on a map where a small circle stays a circle; in degrees of the equator. The
-- index of places finds the nearest ones there, because PostgreSQL's own points are flat.
CREATE FUNCTION "mercator"(place point) RETURNS point LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN point(place[0], degrees(asinh(tan(radians(place[1])))));
