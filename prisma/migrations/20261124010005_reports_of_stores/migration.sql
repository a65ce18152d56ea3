-- AddForeignKey
-- Allow constraint-missing-not-valid: no row of `reports` is older than this release, so nothing is scanned.
ALTER TABLE "reports" ADD CONSTRAINT "reports_store_id_fkey" FOREIGN KEY ("store_id") REFERENCES "stores"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
