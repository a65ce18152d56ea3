-- Outside a transaction
-- With all that the search reads of a candidate, so that it reads no row.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "stores_place_idx" ON "stores"
  USING gist (mercator(store_place("latitude", "longitude", "show_exact_location")))
  INCLUDE ("id", "latitude", "longitude", "show_exact_location")
  WHERE "closed_at" IS NULL AND "suspended_at" IS NULL AND "latitude" IS NOT NULL;
