-- AlterTable
ALTER TABLE "users" ADD COLUMN     "suspended_reason" VARCHAR(1000);

-- CreateTable
CREATE TABLE "audit_entries" (
    "id" BIGSERIAL NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "operator" VARCHAR(100) NOT NULL,
    "action" VARCHAR(50) NOT NULL,
    "subject_kind" VARCHAR(20),
    "subject_id" BIGINT,
    "reason" VARCHAR(1000),
    "request_id" VARCHAR(64),
    "address" VARCHAR(45),

    CONSTRAINT "audit_entries_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "audit_entries_created_at_id_idx" ON "audit_entries"("created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "audit_entries_subject_kind_subject_id_created_at_id_idx" ON "audit_entries"("subject_kind", "subject_id", "created_at" DESC, "id" DESC);

ALTER TABLE "audit_entries"
  ADD CONSTRAINT "audit_entries_subject_check" CHECK (("subject_kind" IS NULL) = ("subject_id" IS NULL));
