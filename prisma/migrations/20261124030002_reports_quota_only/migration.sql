-- Outside a transaction
-- Allow drop-used: the index of the migration before serves the release before, too.
DROP INDEX CONCURRENTLY IF EXISTS "reports_reporter_id_idx";
