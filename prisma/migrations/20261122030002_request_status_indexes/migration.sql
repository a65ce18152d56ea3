-- The lists of one status, and what is withdrawn when a store is closed.

-- CreateIndex
CREATE INDEX IF NOT EXISTS "partner_requests_sender_store_id_status_created_at_id_idx" ON "partner_requests"("sender_store_id", "status", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX IF NOT EXISTS "partner_requests_receiver_store_id_status_created_at_id_idx" ON "partner_requests"("receiver_store_id", "status", "created_at" DESC, "id" DESC);
