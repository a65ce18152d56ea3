-- Three neighbouring characters are rarer than two: what an index finds by them is little more than what matches.
CREATE OR REPLACE FUNCTION "search_grams"(folded text) RETURNS text[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT singles
    || ARRAY(SELECT a || b FROM unnest(singles, singles[2:]) AS pair (a, b) WHERE b IS NOT NULL)
    || ARRAY(SELECT a || b || c FROM unnest(singles, singles[2:], singles[3:]) AS triple (a, b, c) WHERE c IS NOT NULL)
  FROM string_to_array(folded, NULL) AS singles
$$;

DROP INDEX "posts_search_idx";
CREATE INDEX "posts_search_idx" ON "posts" USING gin ((search_grams("search_text") COLLATE "C"))
  WITH (fastupdate = off) WHERE "deleted_at" IS NULL;
DROP INDEX "stores_search_idx";
CREATE INDEX "stores_search_idx" ON "stores" USING gin ((search_grams(search_fold("name")) COLLATE "C"))
  WITH (fastupdate = off) WHERE "closed_at" IS NULL;

-- A sample of the rows, which tells how frequent a part of a text is. The divisor is prime, so that rows that were written
-- in a pattern are all in it.
CREATE INDEX "posts_search_sample_idx" ON "posts" USING gin ((search_grams("search_text") COLLATE "C"))
  WITH (fastupdate = off) WHERE "deleted_at" IS NULL AND "id" % 503 = 0;
CREATE INDEX "stores_search_sample_idx" ON "stores" USING gin ((search_grams(search_fold("name")) COLLATE "C"))
  WITH (fastupdate = off) WHERE "closed_at" IS NULL AND "id" % 503 = 0;
