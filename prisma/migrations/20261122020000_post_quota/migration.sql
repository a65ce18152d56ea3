-- Deleted posts count against the daily quota of their store, too. `posts_store_feed_idx` has the others.
CREATE INDEX "posts_deleted_idx" ON "posts" ("store_id", "created_at" DESC) WHERE "deleted_at" IS NOT NULL;
