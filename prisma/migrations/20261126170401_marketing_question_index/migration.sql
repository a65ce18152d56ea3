-- Outside a transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS "users_marketing_asked_at_idx" ON "users" ("marketing_asked_at")
  WHERE "marketing_asked_at" IS NOT NULL;
