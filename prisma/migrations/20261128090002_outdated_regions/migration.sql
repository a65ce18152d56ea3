-- Outside a transaction
-- Stores whose address an earlier release read, or that none has read.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "stores_outdated_region_idx" ON "stores" ("id")
  WHERE "address" <> '' AND ("sido" = ANY ("region_keys")) IS NOT TRUE;
