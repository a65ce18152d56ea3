ALTER TABLE "users" ADD COLUMN "marketing_asked_at" TIMESTAMPTZ(3);
