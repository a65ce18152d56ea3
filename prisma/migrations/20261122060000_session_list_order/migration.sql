-- The list of sessions is read in its order; with the time alone, older planners read all sessions of a user and sort them.

-- CreateIndex
CREATE INDEX "sessions_user_id_created_at_id_idx" ON "sessions"("user_id", "created_at" DESC, "id" DESC);

-- DropIndex
DROP INDEX "sessions_user_id_created_at_idx";
