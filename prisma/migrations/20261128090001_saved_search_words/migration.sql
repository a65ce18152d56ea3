-- Outside a transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS "saved_searches_region_words_idx" ON "saved_searches" (((region_words("region"))[1]))
  WHERE "latitude" IS NULL;
