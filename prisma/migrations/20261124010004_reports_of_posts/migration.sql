-- In a migration of its own, as the next one: each of them locks the table that it refers to, and releases it at once.
-- Allow constraint-missing-not-valid: no row of `reports` is older than this release, so nothing is scanned.
ALTER TABLE "reports" ADD CONSTRAINT "reports_post_id_fkey" FOREIGN KEY ("post_id") REFERENCES "posts"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
