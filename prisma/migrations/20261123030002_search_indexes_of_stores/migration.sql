-- As those of posts. Built while the texts of all stores are still empty, which takes seconds; the next migrations fill them
-- in.
CREATE INDEX "stores_search_text_idx" ON "stores" USING gin ((search_grams("search_text") COLLATE "C"))
  WITH (fastupdate = off) WHERE "closed_at" IS NULL;
CREATE INDEX "stores_search_text_sample_idx" ON "stores" USING gin ((search_grams("search_text") COLLATE "C"))
  WITH (fastupdate = off) WHERE "closed_at" IS NULL AND "id" % 503 = 0;

-- Until all texts are filled in, entries are collected and added together, which takes a quarter of the time; a search reads
-- the few megabytes that wait.
ALTER INDEX "posts_search_idx" SET (fastupdate = on, gin_pending_list_limit = 8192);
ALTER INDEX "posts_search_sample_idx" SET (fastupdate = on, gin_pending_list_limit = 8192);
ALTER INDEX "stores_search_text_idx" SET (fastupdate = on, gin_pending_list_limit = 8192);
ALTER INDEX "stores_search_text_sample_idx" SET (fastupdate = on, gin_pending_list_limit = 8192);
