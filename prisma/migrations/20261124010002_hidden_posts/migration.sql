-- AlterTable
ALTER TABLE "posts" ADD COLUMN     "hidden_at" TIMESTAMPTZ(3);

-- Not validated, which would read all posts under a lock; no post is hidden yet.
ALTER TABLE "posts"
  ADD CONSTRAINT "posts_hidden_check" CHECK ("hidden_at" IS NULL OR "deleted_at" IS NOT NULL) NOT VALID;

-- A hidden post keeps its pictures, because it can be shown again. See `unlinked_images` for the rest.
CREATE OR REPLACE FUNCTION "unlink_images"() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  WITH unused AS (
    SELECT l.post_id, l.image_id
    FROM changed c JOIN post_images l ON l.post_id = c.id JOIN images i ON i.id = l.image_id
    WHERE c.deleted_at IS NOT NULL AND c.hidden_at IS NULL OR NOT (i.key = ANY (c.images))
    ORDER BY l.image_id FOR NO KEY UPDATE OF i
  ), unlinked AS (
    DELETE FROM post_images l USING unused u WHERE l.post_id = u.post_id AND l.image_id = u.image_id
    RETURNING l.image_id
  )
  UPDATE images SET check_after = greatest(now(), created_at + interval '24 hours')
  FROM (SELECT DISTINCT image_id FROM unlinked) u WHERE images.id = u.image_id;
  RETURN NULL;
END $$;
