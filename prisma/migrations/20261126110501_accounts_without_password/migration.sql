-- AlterTable
-- Allow ban-drop-not-null: the release before compares a missing hash with a dummy hash, as for an unknown account
ALTER TABLE "users" ALTER COLUMN "password_hash" DROP NOT NULL;
