CREATE OR REPLACE VIEW "notifications" AS
  SELECT "id", "user_id", "kind", "partner_request_id", "created_at", false AS "is_read", "post_id", "saved_search_id"
  FROM "unread_notifications"
  UNION ALL
  SELECT "id", "user_id", "kind", "partner_request_id", "created_at", true, "post_id", "saved_search_id"
  FROM "read_notifications";
