CREATE TABLE "post_alerts" (
    "post_id" BIGINT NOT NULL,
    "after_user_id" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "post_alerts_pkey" PRIMARY KEY ("post_id")
);

CREATE INDEX "post_alerts_created_at_idx" ON "post_alerts"("created_at");
