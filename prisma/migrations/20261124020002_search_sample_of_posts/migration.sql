-- Outside a transaction
-- A sample of the rows, which tells how frequent a text is. The divisor is prime, so that rows that were written in a pattern are
-- all in it.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "posts_search_keys_sample_idx" ON "posts" USING gin (search_keys("search_text"))
  WITH (fastupdate = off) WHERE "deleted_at" IS NULL AND "id" % 503 = 0;
