-- Outside a transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS "posts_store_open_feed_idx" ON "posts" ("store_id", "created_at" DESC, "id" DESC) WHERE "is_visible" AND "closed_at" IS NULL;
