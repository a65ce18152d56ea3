-- The newest request of a store for a post, and how many of them there are. On a large table, create the indexes of this
-- migration concurrently before the upgrade.

-- CreateIndex
CREATE INDEX IF NOT EXISTS "partner_requests_sender_store_id_post_id_id_idx" ON "partner_requests"("sender_store_id", "post_id", "id" DESC);

-- The partners of a store, by the time at which their requests were accepted. The other store is in the index, so that
-- finding the newest request of each pair of stores reads no other table.
CREATE INDEX IF NOT EXISTS "partner_requests_sent_partners_idx" ON "partner_requests" ("sender_store_id", "updated_at" DESC, "id" DESC)
  INCLUDE ("receiver_store_id") WHERE "status" = 'accepted';
CREATE INDEX IF NOT EXISTS "partner_requests_received_partners_idx" ON "partner_requests" ("receiver_store_id", "updated_at" DESC, "id" DESC)
  INCLUDE ("sender_store_id") WHERE "status" = 'accepted';
CREATE INDEX IF NOT EXISTS "partner_requests_partner_idx" ON "partner_requests" ("sender_store_id", "receiver_store_id", "updated_at" DESC, "id" DESC)
  WHERE "status" = 'accepted';

-- A pending request is answered or withdrawn, and an accepted one can be ended. Nothing follows after that.
CREATE OR REPLACE FUNCTION "check_partner_request_transition"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.status <> NEW.status AND NOT (
    OLD.status = 'requested' AND NEW.status IN ('accepted', 'declined', 'withdrawn')
    OR OLD.status = 'accepted' AND NEW.status = 'ended'
  ) THEN
    RAISE EXCEPTION 'a partner request cannot go from % to %', OLD.status, NEW.status
      USING ERRCODE = 'check_violation', CONSTRAINT = 'partner_requests_transition';
  END IF;
  RETURN NEW;
END $$;

-- Accepted requests of accounts that were deleted before they could end.
UPDATE "partner_requests" r SET "status" = 'ended', "updated_at" = s."closed_at"
FROM "stores" s
WHERE r."status" = 'accepted' AND s."id" IN (r."sender_store_id", r."receiver_store_id") AND s."closed_at" IS NOT NULL;
