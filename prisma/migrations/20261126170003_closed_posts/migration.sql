ALTER TABLE "posts"
  ADD COLUMN "closes_on" DATE,
  ADD COLUMN "closed_at" TIMESTAMPTZ(3);
