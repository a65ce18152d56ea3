-- Outside a transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS "reports_reporter_id_created_at_idx" ON "reports"("reporter_id", "created_at" DESC);
