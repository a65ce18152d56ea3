-- Allow ban-drop-not-null: the release before joins notifications to requests, so that it leaves out those without one.
ALTER TABLE "read_notifications"
  ALTER COLUMN "partner_request_id" DROP NOT NULL,
  ADD COLUMN "post_id" BIGINT,
  ADD COLUMN "saved_search_id" INTEGER;
