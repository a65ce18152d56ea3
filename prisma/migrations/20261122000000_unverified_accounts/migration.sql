-- AlterTable
ALTER TABLE "email_codes" ADD COLUMN     "user_id" INTEGER;

-- AlterTable
ALTER TABLE "users" ADD COLUMN     "last_login_at" TIMESTAMPTZ(3);

-- CreateIndex
CREATE INDEX "email_codes_user_id_idx" ON "email_codes"("user_id");

-- AddForeignKey
ALTER TABLE "email_codes" ADD CONSTRAINT "email_codes_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- The latest logins that are known: of sessions that live, and of the last 30 days.
UPDATE "users" SET "last_login_at" = greatest(
  (SELECT max("created_at") FROM "sessions" WHERE "user_id" = "users"."id"),
  (SELECT max("last_used_at") FROM "known_addresses" WHERE "user_id" = "users"."id"));

-- The clean-up looks for accounts that were never verified and that nobody uses.
CREATE INDEX "users_unverified_idx" ON "users" (coalesce("last_login_at", "created_at")) WHERE NOT "is_verified";
