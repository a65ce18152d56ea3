-- Unlinks the pictures that posts do not show any more, whatever writes the posts: an instance of the release before, which runs
-- on while this one starts, changes and deletes posts without their links. The clean-up then looks at each of these pictures.
-- A picture is locked before its link is deleted, as by a deletion of the picture, whose foreign key reads the links.
CREATE FUNCTION "unlink_images"() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  WITH unused AS (
    SELECT l.post_id, l.image_id
    FROM changed c JOIN post_images l ON l.post_id = c.id JOIN images i ON i.id = l.image_id
    WHERE c.deleted_at IS NOT NULL OR NOT (i.key = ANY (c.images))
    ORDER BY l.image_id FOR NO KEY UPDATE OF i
  ), unlinked AS (
    DELETE FROM post_images l USING unused u WHERE l.post_id = u.post_id AND l.image_id = u.image_id
    RETURNING l.image_id
  )
  UPDATE images SET check_after = greatest(now(), created_at + interval '24 hours')
  FROM (SELECT DISTINCT image_id FROM unlinked) u WHERE images.id = u.image_id;
  RETURN NULL;
END $$;

CREATE TRIGGER "posts_images" AFTER UPDATE ON "posts" REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION "unlink_images"();
