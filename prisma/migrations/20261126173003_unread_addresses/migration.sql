-- Outside a transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS "stores_unread_address_idx" ON "stores" ("id")
  WHERE "sido" IS NULL AND "address" <> '';
