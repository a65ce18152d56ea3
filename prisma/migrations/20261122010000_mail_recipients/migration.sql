-- Mails that the recipient did not request are counted by address, too.
ALTER TYPE "mail_purpose" ADD VALUE 'partner_request';
ALTER TYPE "mail_purpose" ADD VALUE 'notice';

-- As text, because a new value cannot be used in the transaction that adds it.
ALTER TABLE "mail_sends"
  DROP CONSTRAINT "mail_sends_sent_at_check",
  ADD CONSTRAINT "mail_sends_sent_at_check" CHECK (
    cardinality("sent_at") <= CASE "purpose"::text WHEN 'partner_request' THEN 60 ELSE 5 END);

-- A failed mail is deleted with the account that was to get it.
ALTER TABLE "failed_mails" ADD COLUMN "user_id" INTEGER;

WITH "recipients" AS (
  SELECT f."id", u."id" AS "user_id"
  FROM "failed_mails" f
  LEFT JOIN "partner_requests" r ON r."id" = (f."payload"->>'request_id')::int
  LEFT JOIN "stores" s ON s."id" = CASE f."kind"
    WHEN 'partner_request_received' THEN r."receiver_store_id" ELSE r."sender_store_id" END
  LEFT JOIN "users" u ON u."id" = coalesce((f."payload"->>'user_id')::int, s."owner_id")
    OR u."email" = f."payload"->>'email'
  WHERE f."payload" ?| ARRAY['user_id', 'email', 'request_id']
), "deleted" AS (
  DELETE FROM "failed_mails" f USING "recipients" r WHERE f."id" = r."id" AND r."user_id" IS NULL
)
UPDATE "failed_mails" f SET "user_id" = r."user_id" FROM "recipients" r
WHERE f."id" = r."id" AND r."user_id" IS NOT NULL;

CREATE INDEX "failed_mails_user_id_idx" ON "failed_mails"("user_id");

ALTER TABLE "failed_mails" ADD CONSTRAINT "failed_mails_user_id_fkey"
  FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;
