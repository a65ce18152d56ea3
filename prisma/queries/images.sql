-- Returns: id bigint, key character varying
-- Pages: at most 1024
/* images.claimDeleted */
UPDATE images
SET
  check_after = now() + make_interval(mins => $1)
WHERE
  id = ANY (
    ARRAY(
      SELECT
        id
      FROM
        images
      WHERE
        check_after <= now()
        AND state = 'deleted'
      ORDER BY
        check_after
      LIMIT
        $2::int
      FOR UPDATE
        SKIP LOCKED
    )
  )
RETURNING
  id,
  key;

-- Returns: key character varying
-- Pages: at most 128
/* images.link */
WITH
  own AS (
    SELECT
      id,
      key
    FROM
      images
    WHERE
      key = ANY ($1)
      AND user_id = $2
      AND state = 'ready'
    FOR KEY SHARE
  ),
  linked AS (
    INSERT INTO
      post_images (post_id, image_id)
    SELECT
      $3::bigint,
      id
    FROM
      own
    ON CONFLICT DO NOTHING
  )
SELECT
  key
FROM
  own;

-- Returns: id bigint
-- Pages: at most 256
/* images.lockDue */
SELECT
  id
FROM
  images
WHERE
  check_after <= now()
  AND state IN ('pending', 'ready')
ORDER BY
  check_after
LIMIT
  $1::int
FOR UPDATE
  SKIP LOCKED;

-- Pages: at most 16384
/* images.releaseAllOf */
UPDATE images
SET
  user_id = NULL,
  check_after = now()
FROM
  (
    SELECT
      id
    FROM
      images
    WHERE
      user_id = $1
    ORDER BY
      id
    FOR UPDATE
  ) own
WHERE
  images.id = own.id;
