-- DropIndex
DROP INDEX "reports_reporter_id_idx";
