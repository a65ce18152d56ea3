ALTER TABLE "users"
  ADD COLUMN "has_match_mails" BOOLEAN NOT NULL DEFAULT false,
  ADD COLUMN "muted_pushes" "mail_topic"[] NOT NULL DEFAULT ARRAY[]::"mail_topic"[],
  ADD COLUMN "quiet_from" VARCHAR(5),
  ADD COLUMN "quiet_to" VARCHAR(5);
