-- Counts what is unread, whatever writes the rows. Rows of `notification_counts` are locked in the order of their users, to
-- avoid deadlocks. Each function runs once per statement, so that a statement of many rows updates a count once.

CREATE FUNCTION "count_added_notifications"() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO notification_counts AS c (user_id, unread)
  SELECT user_id, count(*) FILTER (WHERE NOT is_read) FROM added GROUP BY user_id ORDER BY user_id
  ON CONFLICT (user_id) DO UPDATE SET unread = c.unread + excluded.unread;
  RETURN NULL;
END $$;

-- Every user with a notification has a row, so that none is inserted here: the user may have been deleted.
CREATE FUNCTION "count_changed_notifications"() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  WITH changed AS (
    SELECT user_id, sum(change) AS change
    FROM (
      SELECT user_id, -1 AS change FROM old_rows WHERE NOT is_read
      UNION ALL
      SELECT user_id, 1 FROM new_rows WHERE NOT is_read
    ) rows
    GROUP BY user_id HAVING sum(change) <> 0
  ), locked AS (
    SELECT user_id, change FROM notification_counts c JOIN changed USING (user_id)
    ORDER BY user_id FOR NO KEY UPDATE OF c
  )
  UPDATE notification_counts c SET unread = greatest(0, c.unread + change) FROM locked WHERE locked.user_id = c.user_id;
  RETURN NULL;
END $$;

CREATE FUNCTION "count_deleted_notifications"() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  WITH changed AS (
    SELECT user_id, count(*) AS deleted FROM old_rows WHERE NOT is_read GROUP BY user_id
  ), locked AS (
    SELECT user_id, deleted FROM notification_counts c JOIN changed USING (user_id)
    ORDER BY user_id FOR NO KEY UPDATE OF c
  )
  UPDATE notification_counts c SET unread = greatest(0, c.unread - deleted) FROM locked WHERE locked.user_id = c.user_id;
  RETURN NULL;
END $$;

CREATE FUNCTION "count_no_notifications"() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  UPDATE notification_counts SET unread = 0;
  RETURN NULL;
END $$;

-- Nothing is written between the counting below and the triggers.
LOCK TABLE "notifications" IN SHARE ROW EXCLUSIVE MODE;

CREATE TRIGGER "notifications_added" AFTER INSERT ON "notifications" REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION "count_added_notifications"();
CREATE TRIGGER "notifications_changed" AFTER UPDATE ON "notifications" REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION "count_changed_notifications"();
CREATE TRIGGER "notifications_deleted" AFTER DELETE ON "notifications" REFERENCING OLD TABLE AS old_rows
  FOR EACH STATEMENT EXECUTE FUNCTION "count_deleted_notifications"();
CREATE TRIGGER "notifications_truncated" AFTER TRUNCATE ON "notifications"
  FOR EACH STATEMENT EXECUTE FUNCTION "count_no_notifications"();

INSERT INTO "notification_counts" ("user_id", "unread")
  SELECT "user_id", count(*) FROM "notifications" WHERE NOT "is_read" GROUP BY "user_id"
  ON CONFLICT ("user_id") DO UPDATE SET "unread" = excluded."unread";

-- The list of what was read, as `notifications_unread_idx` for the list of what is unread. A new notification is not in it.
CREATE INDEX IF NOT EXISTS "notifications_read_idx" ON "notifications" ("user_id", "id") WHERE "is_read";
