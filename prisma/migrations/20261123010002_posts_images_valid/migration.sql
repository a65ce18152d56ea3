-- Reads the rows that exist. Posts can be read and written meanwhile.
ALTER TABLE "posts" VALIDATE CONSTRAINT "posts_images_check";
