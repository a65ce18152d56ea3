-- A deleted post keeps its title, for the requests that answer it, and nothing else.
ALTER TABLE "posts"
  DROP CONSTRAINT "posts_content_check",
  DROP CONSTRAINT "posts_images_check";

UPDATE "posts" SET "content" = '', "images" = '{}' WHERE "deleted_at" IS NOT NULL;

-- An instance of the release before, which runs on while this one starts, deletes without emptying.
ALTER TABLE "posts"
  ADD CONSTRAINT "posts_content_check" CHECK ("deleted_at" IS NOT NULL OR char_length("content") >= 1),
  ADD CONSTRAINT "posts_images_check" CHECK (
    array_position("images", NULL) IS NULL
    AND ("deleted_at" IS NOT NULL OR cardinality("images") >= 1) AND cardinality("images") <= 10);
