-- The degrees of latitude and longitude within which all places of a circle are, with longitude as x. For the index of searches.
CREATE FUNCTION "search_area"(latitude double precision, longitude double precision, radius integer)
RETURNS box LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN box(
    point(longitude - 0.000009 * radius / cos(radians(least(89.9, abs(latitude) + 0.000009 * radius))), latitude - 0.000009 * radius),
    point(longitude + 0.000009 * radius / cos(radians(least(89.9, abs(latitude) + 0.000009 * radius))), latitude + 0.000009 * radius));

-- CreateTable
CREATE TABLE "saved_searches" (
    "id" SERIAL NOT NULL,
    "user_id" INTEGER NOT NULL,
    "name" VARCHAR(50) NOT NULL,
    "q" VARCHAR(100),
    "category_id" INTEGER,
    "region" VARCHAR(40),
    "near" VARCHAR(50),
    "latitude" DOUBLE PRECISION,
    "longitude" DOUBLE PRECISION,
    "radius_m" INTEGER,
    "q_key" TEXT GENERATED ALWAYS AS (search_key("q")) STORED,
    "region_key" TEXT GENERATED ALWAYS AS (search_key("region")) STORED,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "saved_searches_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "saved_searches_filter_check" CHECK (
      num_nonnulls("q", "category_id", "region", "near") > 0 AND num_nulls("near", "latitude", "longitude") IN (0, 3))
);

CREATE INDEX "saved_searches_user_id_id_idx" ON "saved_searches"("user_id", "id");

-- Each search is in one of these: by a place, else by a region, else by the first pair of characters of its text, else by its category.
CREATE INDEX "saved_searches_area_idx" ON "saved_searches"
  USING gist (search_area("latitude", "longitude", coalesce("radius_m", 3000))) WHERE "latitude" IS NOT NULL;
CREATE INDEX "saved_searches_region_idx" ON "saved_searches" ("region_key") WHERE "latitude" IS NULL;
CREATE INDEX "saved_searches_text_idx" ON "saved_searches" (((search_keys(search_key("q")))[1]))
  WHERE "latitude" IS NULL AND "region" IS NULL;
CREATE INDEX "saved_searches_category_idx" ON "saved_searches" ("category_id")
  WHERE "latitude" IS NULL AND "region" IS NULL AND "q" IS NULL;

ALTER TABLE "saved_searches" ADD CONSTRAINT "saved_searches_user_id_fkey"
  FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;
