-- Outside a transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS "stores_search_keys_idx" ON "stores" USING gin (search_keys("search_text"))
  WITH (fastupdate = off) WHERE "closed_at" IS NULL;
