-- CreateEnum
CREATE TYPE "report_reason" AS ENUM ('spam', 'fraud', 'abuse', 'other');

-- CreateEnum
CREATE TYPE "report_action" AS ENUM ('none', 'hide');

-- CreateTable
CREATE TABLE "reports" (
    "id" SERIAL NOT NULL,
    "reporter_id" INTEGER,
    "post_id" INTEGER,
    "store_id" INTEGER,
    "reason" "report_reason" NOT NULL,
    "text" VARCHAR(1000) NOT NULL DEFAULT '',
    "action" "report_action",
    "note" VARCHAR(1000) NOT NULL DEFAULT '',
    "closed_by" VARCHAR(100),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "closed_at" TIMESTAMPTZ(3),

    CONSTRAINT "reports_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "reports_reporter_id_idx" ON "reports"("reporter_id");

-- CreateIndex
CREATE INDEX "reports_post_id_idx" ON "reports"("post_id");

-- CreateIndex
CREATE INDEX "reports_store_id_idx" ON "reports"("store_id");

-- CreateIndex
CREATE INDEX "reports_closed_at_idx" ON "reports"("closed_at");

-- CreateIndex
CREATE INDEX "reports_created_at_id_idx" ON "reports"("created_at" DESC, "id" DESC);

-- AddForeignKey
ALTER TABLE "reports" ADD CONSTRAINT "reports_reporter_id_fkey" FOREIGN KEY ("reporter_id") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;

ALTER TABLE "reports"
  ADD CONSTRAINT "reports_target_check" CHECK (("post_id" IS NULL) <> ("store_id" IS NULL)),
  ADD CONSTRAINT "reports_closed_check" CHECK (
    ("closed_at" IS NULL) = ("action" IS NULL) AND ("closed_at" IS NULL) = ("closed_by" IS NULL));

-- One open report of a user about one target.
CREATE UNIQUE INDEX "reports_open_post_key" ON "reports" ("reporter_id", "post_id")
  WHERE "closed_at" IS NULL AND "post_id" IS NOT NULL;
CREATE UNIQUE INDEX "reports_open_store_key" ON "reports" ("reporter_id", "store_id")
  WHERE "closed_at" IS NULL AND "store_id" IS NOT NULL;

-- The lists of open and of closed reports.
CREATE INDEX "reports_open_idx" ON "reports" ("created_at" DESC, "id" DESC) WHERE "closed_at" IS NULL;
CREATE INDEX "reports_closed_idx" ON "reports" ("created_at" DESC, "id" DESC) WHERE "closed_at" IS NOT NULL;
