ALTER TABLE "outbox" ADD COLUMN "notification_id" BIGINT;
