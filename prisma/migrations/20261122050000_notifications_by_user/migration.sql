-- An index of the id alone is good for nothing, but the planner may choose it: it then reads the newest notifications of
-- everybody to find those of one user. The index is built first, so that notifications can be read meanwhile.
CREATE UNIQUE INDEX "notifications_user_id_id_key" ON "notifications" ("user_id", "id");

ALTER TABLE "notifications"
  DROP CONSTRAINT "notifications_pkey",
  ADD CONSTRAINT "notifications_pkey" PRIMARY KEY USING INDEX "notifications_user_id_id_key";

-- The new key in the other direction.
DROP INDEX "notifications_user_id_id_idx";
