-- Outside a transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS "posts_search_keys_idx" ON "posts" USING gin (search_keys("search_text"))
  WITH (fastupdate = off) WHERE "deleted_at" IS NULL;
