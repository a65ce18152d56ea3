-- Outside a transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS "posts_due_idx" ON "posts" ("closes_on") WHERE "closes_on" IS NOT NULL AND "closed_at" IS NULL;
