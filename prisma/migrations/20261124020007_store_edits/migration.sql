-- CreateTable
CREATE TABLE "store_edits" (
    "store_id" INTEGER NOT NULL,
    "since" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "edits" INTEGER NOT NULL DEFAULT 1,

    CONSTRAINT "store_edits_pkey" PRIMARY KEY ("store_id")
);

-- CreateIndex
CREATE INDEX "store_edits_since_idx" ON "store_edits"("since");
