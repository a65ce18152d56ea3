-- Allow ban-drop-not-null: the release before joins notifications to requests, so that it leaves out those without one.
ALTER TABLE "read_notifications"
  ALTER COLUMN "partner_request_id" DROP NOT NULL,
  ADD COLUMN "post_id" BIGINT,
  ADD COLUMN "saved_search_id" INTEGER;

CREATE OR REPLACE VIEW "notifications" AS
  SELECT "id", "user_id", "kind", "partner_request_id", "created_at", false AS "is_read", "post_id", "saved_search_id"
  FROM "unread_notifications"
  UNION ALL
  SELECT "id", "user_id", "kind", "partner_request_id", "created_at", true, "post_id", "saved_search_id"
  FROM "read_notifications";
