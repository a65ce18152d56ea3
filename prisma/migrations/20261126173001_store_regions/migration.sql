-- Outside a transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS "stores_region_keys_idx" ON "stores" USING gin ("region_keys")
  WITH (fastupdate = off) WHERE "closed_at" IS NULL;
