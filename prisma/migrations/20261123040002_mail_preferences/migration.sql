-- CreateEnum
CREATE TYPE "mail_topic" AS ENUM ('partner_request_received', 'partner_request_answered', 'partner_request_ended');

-- Constant defaults: the table is not rewritten, and an instance with the old code can insert rows.
ALTER TABLE "users"
  ADD COLUMN "has_chosen_language" BOOLEAN NOT NULL DEFAULT false,
  ADD COLUMN "muted_mails" "mail_topic"[] NOT NULL DEFAULT ARRAY[]::"mail_topic"[];
