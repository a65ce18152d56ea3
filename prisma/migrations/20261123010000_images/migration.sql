-- CreateEnum
CREATE TYPE "image_state" AS ENUM ('pending', 'ready', 'deleted', 'erased');

-- CreateTable
CREATE TABLE "images" (
    "id" SERIAL NOT NULL,
    "user_id" INTEGER,
    "key" VARCHAR(33) NOT NULL,
    "state" "image_state" NOT NULL DEFAULT 'pending',
    "width" SMALLINT NOT NULL DEFAULT 0,
    "height" SMALLINT NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "check_after" TIMESTAMPTZ(3),

    CONSTRAINT "images_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "post_images" (
    "post_id" INTEGER NOT NULL,
    "image_id" INTEGER NOT NULL,
    "image_state" "image_state" NOT NULL DEFAULT 'ready',

    CONSTRAINT "post_images_pkey" PRIMARY KEY ("post_id","image_id")
);

-- CreateIndex
CREATE UNIQUE INDEX "images_key_key" ON "images"("key");

-- CreateIndex
CREATE INDEX "images_user_id_created_at_idx" ON "images"("user_id", "created_at" DESC);

-- CreateIndex
CREATE UNIQUE INDEX "images_id_state_key" ON "images"("id", "state");

-- CreateIndex
CREATE INDEX "post_images_image_id_image_state_idx" ON "post_images"("image_id", "image_state");

-- AddForeignKey
ALTER TABLE "images" ADD CONSTRAINT "images_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "post_images" ADD CONSTRAINT "post_images_post_id_fkey" FOREIGN KEY ("post_id") REFERENCES "posts"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "post_images" ADD CONSTRAINT "post_images_image_id_image_state_fkey" FOREIGN KEY ("image_id", "image_state") REFERENCES "images"("id", "state") ON DELETE RESTRICT ON UPDATE RESTRICT;

-- A picture that a post uses is ready: with the foreign key, it cannot leave that state before its posts let it go.
ALTER TABLE "post_images" ADD CONSTRAINT "post_images_ready_check" CHECK ("image_state" = 'ready');
ALTER TABLE "images" ADD CONSTRAINT "images_size_check"
  CHECK ("state" <> 'ready' OR "width" BETWEEN 1 AND 1600 AND "height" BETWEEN 1 AND 1600);

-- What the clean-up looks at next. Pictures that posts use, which are most of them, are not in it.
CREATE INDEX "images_check_after_idx" ON "images" ("check_after") WHERE "check_after" IS NOT NULL;
