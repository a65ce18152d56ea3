-- CreateTable
CREATE TABLE "data_downloads" (
    "user_id" INTEGER NOT NULL,
    "since" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "downloads" INTEGER NOT NULL DEFAULT 1,

    CONSTRAINT "data_downloads_pkey" PRIMARY KEY ("user_id")
);

-- CreateIndex
CREATE INDEX "data_downloads_since_idx" ON "data_downloads"("since");

-- AddForeignKey
ALTER TABLE "data_downloads" ADD CONSTRAINT "data_downloads_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;
