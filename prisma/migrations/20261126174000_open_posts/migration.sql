-- Outside a transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS "posts_open_feed_idx" ON "posts" ("created_at" DESC, "id" DESC) WHERE "is_visible" AND "closed_at" IS NULL;
