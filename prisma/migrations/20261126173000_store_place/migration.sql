-- Where others see a store, with longitude as x and latitude as y: rounded to about 100 m, unless it shows its exact location. Null
-- without a location. It is not strict, because PostgreSQL would not inline it then.
CREATE FUNCTION "store_place"(latitude double precision, longitude double precision, show_exact boolean)
RETURNS point LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CASE WHEN show_exact THEN point(longitude, latitude)
    ELSE point(round(longitude * 1000) / 1000, round(latitude * 1000) / 1000) END;
