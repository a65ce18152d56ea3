-- Pages: at most 64
/* saved-searches.advance */
INSERT INTO
  post_alerts AS a (post_id, after_user_id)
VALUES
  ($1, $2)
ON CONFLICT (post_id) DO UPDATE
SET
  after_user_id = excluded.after_user_id
WHERE
  a.after_user_id = $3;

-- Returns: searchName character varying, storeName character varying, postTitle character varying
-- Pages: at most 64
/* saved-searches.findMatch */
SELECT
  f.name AS "searchName",
  s.name AS "storeName",
  p.title AS "postTitle"
FROM
  saved_searches f,
  posts p
  JOIN stores s ON s.id = p.store_id
WHERE
  f.id = $1
  AND f.user_id = $2
  AND p.id = $3
  AND p.is_visible
  AND (
    p.closed_at IS NULL
    AND (
      p.closes_on IS NULL
      OR p.closes_on >= (now() AT TIME ZONE 'Asia/Seoul')::date
    )
  )
  AND s.closed_at IS NULL
  AND s.suspended_at IS NULL;

-- Returns: userId integer, savedSearchId integer
-- Pages: at most 128
/* saved-searches.findMatches */
WITH
  post AS MATERIALIZED (
    SELECT
      *,
      search_keys (text) AS keys
    FROM
      (
        SELECT
          p.created_at,
          s.id AS store_id,
          s.owner_id,
          s.region_keys,
          concat_ws(E'\n', p.search_text, split_part(s.search_text, E'\n', 1), split_part(s.search_text, E'\n', 2)) AS text,
          CASE
            WHEN s.latitude IS NOT NULL THEN store_place (s.latitude, s.longitude, s.show_exact_location)
          END AS place
        FROM
          posts p
          JOIN stores s ON s.id = p.store_id
        WHERE
          p.id = $1
          AND p.is_visible
          AND (
            p.closed_at IS NULL
            AND (
              p.closes_on IS NULL
              OR p.closes_on >= (now() AT TIME ZONE 'Asia/Seoul')::date
            )
          )
          AND s.closed_at IS NULL
          AND s.suspended_at IS NULL
      ) post
  ),
  candidate AS (
    SELECT
      f.*
    FROM
      post,
      saved_searches f
    WHERE
      f.latitude IS NOT NULL
      AND search_area (f.latitude, f.longitude, coalesce(f.radius_m, 3000)) @> box(place, place)
    UNION ALL
    SELECT
      f.*
    FROM
      post,
      saved_searches f
    WHERE
      f.latitude IS NULL
      AND (region_words (f.region)) [1] = ANY (region_keys)
    UNION ALL
    SELECT
      f.*
    FROM
      post,
      saved_searches f
    WHERE
      f.latitude IS NULL
      AND f.region IS NULL
      AND (search_keys (search_key (f.q))) [1] = ANY (keys)
    UNION ALL
    SELECT
      f.*
    FROM
      post,
      store_category_links l,
      saved_searches f
    WHERE
      l.store_id = post.store_id
      AND f.category_id = l.category_id
      AND f.latitude IS NULL
      AND f.region IS NULL
      AND f.q IS NULL
  ),
  matching AS MATERIALIZED (
    SELECT
      f.user_id,
      min(f.id) AS id
    FROM
      post,
      candidate f
    WHERE
      f.user_id > $2
      AND f.user_id <> post.owner_id
      AND f.created_at <= post.created_at
      AND (
        f.latitude IS NULL
        OR (
          12742017600 * asin(
            sqrt(
              least(
                1,
                sin(radians(place[1] - f.latitude) / 2) ^ 2 + cos(radians(place[1])) * cos(radians(f.latitude)) * sin(radians(place[0] - f.longitude) / 2) ^ 2
              )
            )
          )
        )::bigint <= 1000 * coalesce(f.radius_m, 3000)
      )
      AND (
        f.region IS NULL
        OR region_words (f.region) <@ region_keys
      )
      AND (
        f.q IS NULL
        OR position(f.q_key IN text) > 0
      )
      AND (
        f.category_id IS NULL
        OR EXISTS (
          SELECT
          FROM
            store_category_links
          WHERE
            store_id = post.store_id
            AND category_id = f.category_id
        )
      )
    GROUP BY
      1
  )
SELECT
  user_id AS "userId",
  m.id AS "savedSearchId"
FROM
  matching m
  JOIN users u ON u.id = user_id
WHERE
  suspended_at IS NULL
ORDER BY
  user_id;
