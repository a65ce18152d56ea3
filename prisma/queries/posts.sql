-- Returns: id bigint, title character varying, content character varying, images text[], createdAt timestamp with time zone, updatedAt timestamp with time zone, store json, closes_on text, isOpen boolean, is_mine boolean, my_request_status partner_request_status
-- Pages: at most 256
/* posts.change */
WITH
  edited AS (
    INSERT INTO
      daily_counts AS counter (kind, owner_id)
    SELECT
      'edit',
      id
    FROM
      (
        SELECT
          s.id
        FROM
          posts p
          JOIN stores s ON s.id = p.store_id
        WHERE
          p.id = $1
          AND p.is_visible
          AND s.owner_id = $2
          AND s.closed_at IS NULL
          AND s.suspended_at IS NULL
      ) owner
    ON CONFLICT (kind, owner_id) DO UPDATE
    SET
      since = CASE
        WHEN counter.since < now() - interval '24 hours' THEN now()
        ELSE counter.since
      END,
      count = CASE
        WHEN counter.since < now() - interval '24 hours' THEN 1
        ELSE counter.count + 1
      END
    WHERE
      counter.since < now() - interval '24 hours'
      OR counter.count < $3
    RETURNING
      owner_id AS id
  ),
  changed AS (
    UPDATE posts p
    SET
      title = coalesce($4, p.title),
      content = coalesce($5, p.content),
      images = coalesce($6::text[], p.images),
      closed_at = CASE
        WHEN NOT (
          p.closed_at IS NULL
          AND (
            p.closes_on IS NULL
            OR p.closes_on >= (now() AT TIME ZONE 'Asia/Seoul')::date
          )
        ) THEN coalesce(p.closed_at, now())
      END,
      closes_on = p.closes_on,
      updated_at = clock_timestamp()
    FROM
      edited
    WHERE
      p.id = $7
      AND p.is_visible
      AND p.store_id = edited.id
      AND p.updated_at = coalesce($8::timestamptz, p.updated_at)
    RETURNING
      p.*
  )
SELECT
  p.id,
  p.title,
  p.content,
  p.images,
  p.created_at AS "createdAt",
  p.updated_at AS "updatedAt",
  json_build_object(
    'id',
    s.id,
    'name',
    s.name,
    'store_categories',
    coalesce(
      (
        SELECT
          json_agg(
            json_build_object('id', c.id, 'name', c.name)
            ORDER BY
              l.position
          )
        FROM
          store_category_links l
          JOIN store_categories c ON c.id = l.category_id
        WHERE
          l.store_id = s.id
      ),
      '[]'
    )
  ) AS store,
  to_char(p.closes_on, 'YYYY-MM-DD') AS closes_on,
  (
    p.closed_at IS NULL
    AND (
      p.closes_on IS NULL
      OR p.closes_on >= (now() AT TIME ZONE 'Asia/Seoul')::date
    )
  ) AS "isOpen",
  s.owner_id = $9 AS is_mine,
  (
    SELECT
      r.status
    FROM
      partner_requests r
    WHERE
      r.sender_store_id = (
        SELECT
          id
        FROM
          stores
        WHERE
          owner_id = $10
      )
      AND r.post_id = p.id
    ORDER BY
      r.id DESC
    LIMIT
      1
  ) AS my_request_status
FROM
  changed p
  JOIN stores s ON s.id = p.store_id;

-- Returns: id bigint, title character varying, content character varying, images text[], createdAt timestamp with time zone, updatedAt timestamp with time zone, store json, closes_on text, isOpen boolean, is_mine boolean, my_request_status partner_request_status
-- Pages: at most 256
-- Changes no index: daily_counts
/* posts.create */
WITH
  counted AS (
    INSERT INTO
      daily_counts AS counter (kind, owner_id)
    SELECT
      'post',
      id
    FROM
      (
        SELECT
          s.id
        FROM
          stores s
        WHERE
          s.owner_id = $1
          AND s.closed_at IS NULL
          AND s.suspended_at IS NULL
      ) owner
    ON CONFLICT (kind, owner_id) DO UPDATE
    SET
      since = CASE
        WHEN counter.since < now() - interval '24 hours' THEN now()
        ELSE counter.since
      END,
      count = CASE
        WHEN counter.since < now() - interval '24 hours' THEN 1
        ELSE counter.count + 1
      END
    WHERE
      counter.since < now() - interval '24 hours'
      OR counter.count < $2
    RETURNING
      owner_id AS id
  ),
  created AS (
    INSERT INTO
      posts (store_id, title, content, images, closes_on)
    SELECT
      s.id,
      $3,
      $4,
      $5::text[],
      $6::date
    FROM
      counted
      JOIN stores s USING (id)
    WHERE
      s.closed_at IS NULL
      AND s.suspended_at IS NULL
    FOR SHARE OF
      s
    RETURNING
      *
  )
SELECT
  p.id,
  p.title,
  p.content,
  p.images,
  p.created_at AS "createdAt",
  p.updated_at AS "updatedAt",
  json_build_object(
    'id',
    s.id,
    'name',
    s.name,
    'store_categories',
    coalesce(
      (
        SELECT
          json_agg(
            json_build_object('id', c.id, 'name', c.name)
            ORDER BY
              l.position
          )
        FROM
          store_category_links l
          JOIN store_categories c ON c.id = l.category_id
        WHERE
          l.store_id = s.id
      ),
      '[]'
    )
  ) AS store,
  to_char(p.closes_on, 'YYYY-MM-DD') AS closes_on,
  (
    p.closed_at IS NULL
    AND (
      p.closes_on IS NULL
      OR p.closes_on >= (now() AT TIME ZONE 'Asia/Seoul')::date
    )
  ) AS "isOpen",
  s.owner_id = $7 AS is_mine,
  (
    SELECT
      r.status
    FROM
      partner_requests r
    WHERE
      r.sender_store_id = (
        SELECT
          id
        FROM
          stores
        WHERE
          owner_id = $8
      )
      AND r.post_id = p.id
    ORDER BY
      r.id DESC
    LIMIT
      1
  ) AS my_request_status
FROM
  created p
  JOIN stores s ON s.id = p.store_id;

-- Returns: id bigint, title character varying, content character varying, images text[], createdAt timestamp with time zone, updatedAt timestamp with time zone, store json, closes_on text, isOpen boolean, is_mine boolean, my_request_status partner_request_status
-- Pages: at most 64
/* posts.find */
SELECT
  p.id,
  p.title,
  p.content,
  p.images,
  p.created_at AS "createdAt",
  p.updated_at AS "updatedAt",
  json_build_object(
    'id',
    s.id,
    'name',
    s.name,
    'store_categories',
    coalesce(
      (
        SELECT
          json_agg(
            json_build_object('id', c.id, 'name', c.name)
            ORDER BY
              l.position
          )
        FROM
          store_category_links l
          JOIN store_categories c ON c.id = l.category_id
        WHERE
          l.store_id = s.id
      ),
      '[]'
    )
  ) AS store,
  to_char(p.closes_on, 'YYYY-MM-DD') AS closes_on,
  (
    p.closed_at IS NULL
    AND (
      p.closes_on IS NULL
      OR p.closes_on >= (now() AT TIME ZONE 'Asia/Seoul')::date
    )
  ) AS "isOpen",
  s.owner_id = $1 AS is_mine,
  (
    SELECT
      r.status
    FROM
      partner_requests r
    WHERE
      r.sender_store_id = (
        SELECT
          id
        FROM
          stores
        WHERE
          owner_id = $2
      )
      AND r.post_id = p.id
    ORDER BY
      r.id DESC
    LIMIT
      1
  ) AS my_request_status
FROM
  posts p
  JOIN stores s ON s.id = p.store_id
WHERE
  p.id = $3
  AND p.is_visible
  AND s.closed_at IS NULL
  AND s.suspended_at IS NULL;

-- Pages: at most 512
/* posts.removeHidden */
UPDATE posts
SET
  deleted_at = now(),
  content = '',
  images = '{}'
WHERE
  store_id = $1
  AND NOT is_visible
  AND deleted_at IS NULL;

-- Pages: at most 262144
/* posts.removeVisible */
UPDATE posts
SET
  deleted_at = now(),
  content = '',
  images = '{}'
WHERE
  store_id = $1
  AND is_visible;

-- Returns: id bigint, title character varying, content character varying, images text[], createdAt timestamp with time zone, updatedAt timestamp with time zone, store json, closes_on text, isOpen boolean, is_mine boolean, my_request_status partner_request_status, distance bigint, stoppedTime bigint, stoppedId bigint, isUsable boolean
-- Pages: at most 8192
/* posts.search */
WITH
  closest AS MATERIALIZED (
    SELECT
      s.id,
      store_place (s.latitude, s.longitude, s.show_exact_location) AS place
    FROM
      stores s
    WHERE
      s.closed_at IS NULL
      AND s.suspended_at IS NULL
      AND s.latitude IS NOT NULL
      AND mercator (store_place (s.latitude, s.longitude, s.show_exact_location)) <@ circle(point($1::float8, $2::float8), $3::float8)
    ORDER BY
      mercator (store_place (s.latitude, s.longitude, s.show_exact_location)) <-> point($4::float8, $5::float8)
    LIMIT
      750
  ),
  walked AS (
    SELECT
      id,
      distance,
      is_last,
      NOT is_last
      OR matches AS matches
    FROM
      (
        SELECT
          item.id,
          item.distance,
          place = 750
          OR text_read >= 1000000 AS is_last,
          CASE
            WHEN text_read - text_bytes < 1000000 THEN (
              item.closed_at IS NULL
              AND (
                item.closes_on IS NULL
                OR item.closes_on >= (now() AT TIME ZONE 'Asia/Seoul')::date
              )
            )
            AND item.region_keys IS NOT NULL
            AND (
              $6::text = ''
              OR item.region_keys @> (
                SELECT
                  region_words ($7::text)
              )
            )
            AND (
              $8::text = ''
              OR position(
                (
                  SELECT
                    search_key ($9::text)
                ) IN item.search_text
              ) > 0
              OR position(
                (
                  SELECT
                    search_key ($10::text)
                ) IN split_part(item.store_text, E'\n', 1)
              ) > 0
              OR position(
                (
                  SELECT
                    search_key ($11::text)
                ) IN split_part(item.store_text, E'\n', 2)
              ) > 0
            )
          END AS matches
        FROM
          (
            SELECT
              item.*,
              row_number() OVER running AS place,
              sum(text_bytes) OVER running AS text_read
            FROM
              (
                SELECT
                  item.*,
                  CASE
                    WHEN $12::text = '' THEN 0
                    ELSE octet_length(item.search_text) + 500 + coalesce(octet_length(item.store_text), 0)
                  END AS text_bytes
                FROM
                  (
                    SELECT
                      item.*,
                      s.*
                    FROM
                      (
                        SELECT
                          item.*,
                          distance
                        FROM
                          (
                            SELECT
                              ids[n] AS store_id,
                              distances[n] AS distance
                            FROM
                              (
                                SELECT
                                  array_agg(id) AS ids,
                                  array_agg(distance) AS distances
                                FROM
                                  (
                                    SELECT
                                      id,
                                      distance
                                    FROM
                                      (
                                        SELECT
                                          id,
                                          distance
                                        FROM
                                          (
                                            SELECT
                                              id,
                                              (
                                                12742017600 * asin(
                                                  sqrt(
                                                    least(
                                                      1,
                                                      sin(radians(place[1] - $13::float8) / 2) ^ 2 + cos(radians(place[1])) * cos(radians($14::float8)) * sin(radians(place[0] - $15::float8) / 2) ^ 2
                                                    )
                                                  )
                                                )
                                              )::bigint AS distance
                                            FROM
                                              (
                                                SELECT
                                                  *
                                                FROM
                                                  closest
                                              ) placed
                                            OFFSET
                                              0
                                          ) measured
                                        WHERE
                                          distance BETWEEN $16::bigint AND $17::bigint
                                      ) store
                                    WHERE
                                      distance <= coalesce(
                                        (
                                          SELECT
                                            mercator (place) <-> point($18::float8, $19::float8)
                                          FROM
                                            closest
                                          OFFSET
                                            750 - 1
                                          LIMIT
                                            1
                                        ) * $20::float8,
                                        'infinity'
                                      )
                                  ) nearby
                              ) nearby,
                              generate_series(1, cardinality(ids)) AS n
                            ORDER BY
                              distance
                          ) store
                          CROSS JOIN LATERAL (
                            SELECT
                              item.*
                            FROM
                              posts item
                            WHERE
                              item.store_id = store.store_id
                              AND item.is_visible
                              AND item.closed_at IS NULL
                            ORDER BY
                              created_at DESC,
                              id DESC
                            LIMIT
                              100
                          ) item
                        WHERE
                          (distance, - id) > ($21::bigint, $22::bigint)
                        ORDER BY
                          distance,
                          id DESC
                        LIMIT
                          750
                      ) item
                      LEFT JOIN LATERAL (
                        SELECT
                          s.search_text AS store_text,
                          s.region_keys
                        FROM
                          stores s
                        WHERE
                          s.id = item.store_id
                          AND s.closed_at IS NULL
                          AND s.suspended_at IS NULL
                          AND (
                            $23::int IS NULL
                            OR (
                              SELECT
                                true
                              FROM
                                store_category_links
                              WHERE
                                store_id = item.store_id
                                AND category_id = $24::int
                            ) IS NOT NULL
                          )
                        OFFSET
                          0
                      ) s ON true
                  ) item
              ) item
            WINDOW
              running AS (
                ORDER BY
                  distance,
                  id DESC ROWS UNBOUNDED PRECEDING
              )
          ) item
      ) item
    WHERE
      matches
      OR is_last
    ORDER BY
      distance,
      id DESC
    LIMIT
      $25
  ),
  page AS (
    SELECT
      id,
      distance
    FROM
      walked
    WHERE
      matches
  ),
  stopped AS (
    SELECT
      distance AS "stoppedTime",
      id AS "stoppedId"
    FROM
      walked
    WHERE
      is_last
      AND (
        SELECT
          count(*)
        FROM
          page
      ) < $26
    ORDER BY
      distance,
      id DESC
    LIMIT
      1
  )
SELECT
  found.*,
  stopped.*,
  (
    SELECT
      count(*) < 750
    FROM
      closest
  ) AS "isUsable"
FROM
  (
    SELECT
  ) one_row
  LEFT JOIN stopped ON true
  LEFT JOIN (
    SELECT
      p.id,
      p.title,
      p.content,
      p.images,
      p.created_at AS "createdAt",
      p.updated_at AS "updatedAt",
      json_build_object(
        'id',
        s.id,
        'name',
        s.name,
        'store_categories',
        coalesce(
          (
            SELECT
              json_agg(
                json_build_object('id', c.id, 'name', c.name)
                ORDER BY
                  l.position
              )
            FROM
              store_category_links l
              JOIN store_categories c ON c.id = l.category_id
            WHERE
              l.store_id = s.id
          ),
          '[]'
        )
      ) AS store,
      to_char(p.closes_on, 'YYYY-MM-DD') AS closes_on,
      (
        p.closed_at IS NULL
        AND (
          p.closes_on IS NULL
          OR p.closes_on >= (now() AT TIME ZONE 'Asia/Seoul')::date
        )
      ) AS "isOpen",
      s.owner_id = $27 AS is_mine,
      (
        SELECT
          r.status
        FROM
          partner_requests r
        WHERE
          r.sender_store_id = (
            SELECT
              id
            FROM
              stores
            WHERE
              owner_id = $28
          )
          AND r.post_id = p.id
        ORDER BY
          r.id DESC
        LIMIT
          1
      ) AS my_request_status,
      page.distance
    FROM
      page
      JOIN posts p ON p.id = page.id
      JOIN stores s ON s.id = p.store_id
  ) found ON true
ORDER BY
  found.distance,
  found.id DESC;

-- Returns: id bigint, title character varying, content character varying, images text[], createdAt timestamp with time zone, updatedAt timestamp with time zone, store json, closes_on text, isOpen boolean, is_mine boolean, my_request_status partner_request_status, distance bigint, stoppedTime bigint, stoppedId bigint, isUsable boolean
-- Pages: at most 128
/* posts.search */
WITH
  link AS (
    SELECT
      store_id
    FROM
      store_category_links
    WHERE
      category_id = $1::int
    LIMIT
      2001
  ),
  rare AS (
    SELECT
    FROM
      link
    HAVING
      count(*) <= 2000
  ),
  candidate AS (
    SELECT
      item.*
    FROM
      link
      CROSS JOIN LATERAL (
        SELECT
          item.id,
          item.created_at,
          item.store_id AS store_id
        FROM
          posts item
        WHERE
          item.store_id = link.store_id
          AND item.is_visible
          AND item.closed_at IS NULL
          AND (item.created_at, item.id) < ($2::timestamptz, $3::bigint)
        LIMIT
          5001
      ) item
    WHERE
      EXISTS (
        SELECT
        FROM
          rare
      )
    LIMIT
      5001
  ),
  walked AS (
    SELECT
      id,
      created_at,
      is_last,
      NOT is_last
      OR matches AS matches
    FROM
      (
        SELECT
          item.id,
          item.created_at,
          place = 5000
          OR text_read >= 2000000 AS is_last,
          CASE
            WHEN text_read - text_bytes < 2000000 THEN (
              item.closed_at IS NULL
              AND (
                item.closes_on IS NULL
                OR item.closes_on >= (now() AT TIME ZONE 'Asia/Seoul')::date
              )
            )
            AND item.region_keys IS NOT NULL
            AND (
              $4::text = ''
              OR item.region_keys @> (
                SELECT
                  region_words ($5::text)
              )
            )
            AND (
              $6::text = ''
              OR position(
                (
                  SELECT
                    search_key ($7::text)
                ) IN item.search_text
              ) > 0
              OR position(
                (
                  SELECT
                    search_key ($8::text)
                ) IN split_part(item.store_text, E'\n', 1)
              ) > 0
              OR position(
                (
                  SELECT
                    search_key ($9::text)
                ) IN split_part(item.store_text, E'\n', 2)
              ) > 0
            )
          END AS matches
        FROM
          (
            SELECT
              item.*,
              row_number() OVER running AS place,
              sum(text_bytes) OVER running AS text_read
            FROM
              (
                SELECT
                  item.*,
                  CASE
                    WHEN $10::text = '' THEN 0
                    ELSE octet_length(item.search_text) + 500 + coalesce(octet_length(item.store_text), 0)
                  END AS text_bytes
                FROM
                  (
                    SELECT
                      item.*,
                      s.*
                    FROM
                      (
                        SELECT
                          item.*
                        FROM
                          (
                            SELECT
                              *
                            FROM
                              candidate
                            WHERE
                              EXISTS (
                                SELECT
                                FROM
                                  rare
                              )
                              AND (
                                SELECT
                                  count(*) < 5001
                                FROM
                                  candidate
                              )
                            ORDER BY
                              created_at DESC,
                              id DESC
                          ) candidate
                          JOIN LATERAL (
                            SELECT
                              *
                            FROM
                              posts
                            WHERE
                              id = candidate.id
                            LIMIT
                              1
                          ) item USING (id, created_at)
                      ) item
                      LEFT JOIN LATERAL (
                        SELECT
                          s.search_text AS store_text,
                          s.region_keys
                        FROM
                          stores s
                        WHERE
                          s.id = item.store_id
                          AND s.closed_at IS NULL
                          AND s.suspended_at IS NULL
                          AND (
                            $11::int IS NULL
                            OR (
                              SELECT
                                true
                              FROM
                                store_category_links
                              WHERE
                                store_id = item.store_id
                                AND category_id = $12::int
                            ) IS NOT NULL
                          )
                        OFFSET
                          0
                      ) s ON true
                  ) item
              ) item
            WINDOW
              running AS (
                ORDER BY
                  created_at DESC,
                  id DESC ROWS UNBOUNDED PRECEDING
              )
          ) item
      ) item
    WHERE
      matches
      OR is_last
    ORDER BY
      created_at DESC,
      id DESC
    LIMIT
      $13
  ),
  page AS (
    SELECT
      id,
      NULL::bigint AS distance
    FROM
      walked
    WHERE
      matches
  ),
  stopped AS (
    SELECT
      (
        extract(
          epoch
          FROM
            created_at
        ) * 1000
      )::bigint AS "stoppedTime",
      id AS "stoppedId"
    FROM
      walked
    WHERE
      is_last
      AND (
        SELECT
          count(*)
        FROM
          page
      ) < $14
    ORDER BY
      created_at DESC,
      id DESC
    LIMIT
      1
  )
SELECT
  found.*,
  stopped.*,
  EXISTS (
    SELECT
    FROM
      rare
  )
  AND (
    SELECT
      count(*) < 5001
    FROM
      candidate
  ) AS "isUsable"
FROM
  (
    SELECT
  ) one_row
  LEFT JOIN stopped ON true
  LEFT JOIN (
    SELECT
      p.id,
      p.title,
      p.content,
      p.images,
      p.created_at AS "createdAt",
      p.updated_at AS "updatedAt",
      json_build_object(
        'id',
        s.id,
        'name',
        s.name,
        'store_categories',
        coalesce(
          (
            SELECT
              json_agg(
                json_build_object('id', c.id, 'name', c.name)
                ORDER BY
                  l.position
              )
            FROM
              store_category_links l
              JOIN store_categories c ON c.id = l.category_id
            WHERE
              l.store_id = s.id
          ),
          '[]'
        )
      ) AS store,
      to_char(p.closes_on, 'YYYY-MM-DD') AS closes_on,
      (
        p.closed_at IS NULL
        AND (
          p.closes_on IS NULL
          OR p.closes_on >= (now() AT TIME ZONE 'Asia/Seoul')::date
        )
      ) AS "isOpen",
      s.owner_id = $15 AS is_mine,
      (
        SELECT
          r.status
        FROM
          partner_requests r
        WHERE
          r.sender_store_id = (
            SELECT
              id
            FROM
              stores
            WHERE
              owner_id = $16
          )
          AND r.post_id = p.id
        ORDER BY
          r.id DESC
        LIMIT
          1
      ) AS my_request_status,
      page.distance
    FROM
      page
      JOIN posts p ON p.id = page.id
      JOIN stores s ON s.id = p.store_id
  ) found ON true
ORDER BY
  found."createdAt" DESC,
  found.id DESC;

-- Returns: id bigint, title character varying, content character varying, images text[], createdAt timestamp with time zone, updatedAt timestamp with time zone, store json, closes_on text, isOpen boolean, is_mine boolean, my_request_status partner_request_status, distance bigint, stoppedTime bigint, stoppedId bigint, isUsable boolean
-- Pages: at most 1024
/* posts.search */
WITH
  link AS (
    SELECT
      store_id
    FROM
      store_category_links
    WHERE
      category_id = $1::int
    LIMIT
      2001
  ),
  rare AS (
    SELECT
    FROM
      link
    HAVING
      count(*) <= 2000
  ),
  candidate AS (
    SELECT
      item.*
    FROM
      link
      CROSS JOIN LATERAL (
        SELECT
          item.id,
          item.created_at,
          item.store_id AS store_id
        FROM
          posts item
        WHERE
          item.store_id = link.store_id
          AND item.is_visible
          AND item.closed_at IS NULL
        LIMIT
          5001
      ) item
    WHERE
      EXISTS (
        SELECT
        FROM
          rare
      )
    LIMIT
      5001
  ),
  walked AS (
    SELECT
      id,
      distance,
      is_last,
      NOT is_last
      OR matches AS matches
    FROM
      (
        SELECT
          item.id,
          item.distance,
          place = 5000
          OR text_read >= 2000000 AS is_last,
          CASE
            WHEN text_read - text_bytes < 2000000 THEN (
              item.closed_at IS NULL
              AND (
                item.closes_on IS NULL
                OR item.closes_on >= (now() AT TIME ZONE 'Asia/Seoul')::date
              )
            )
            AND item.region_keys IS NOT NULL
            AND (
              $2::text = ''
              OR item.region_keys @> (
                SELECT
                  region_words ($3::text)
              )
            )
            AND (
              $4::text = ''
              OR position(
                (
                  SELECT
                    search_key ($5::text)
                ) IN item.search_text
              ) > 0
              OR position(
                (
                  SELECT
                    search_key ($6::text)
                ) IN split_part(item.store_text, E'\n', 1)
              ) > 0
              OR position(
                (
                  SELECT
                    search_key ($7::text)
                ) IN split_part(item.store_text, E'\n', 2)
              ) > 0
            )
          END AS matches
        FROM
          (
            SELECT
              item.*,
              row_number() OVER running AS place,
              sum(text_bytes) OVER running AS text_read
            FROM
              (
                SELECT
                  item.*,
                  CASE
                    WHEN $8::text = '' THEN 0
                    ELSE octet_length(item.search_text) + 500 + coalesce(octet_length(item.store_text), 0)
                  END AS text_bytes
                FROM
                  (
                    SELECT
                      item.*,
                      s.*
                    FROM
                      (
                        SELECT
                          item.*,
                          nearest.distance
                        FROM
                          (
                            SELECT
                              *
                            FROM
                              (
                                SELECT
                                  id,
                                  distance
                                FROM
                                  (
                                    SELECT
                                      id,
                                      (
                                        12742017600 * asin(
                                          sqrt(
                                            least(
                                              1,
                                              sin(radians(place[1] - $9::float8) / 2) ^ 2 + cos(radians(place[1])) * cos(radians($10::float8)) * sin(radians(place[0] - $11::float8) / 2) ^ 2
                                            )
                                          )
                                        )
                                      )::bigint AS distance
                                    FROM
                                      (
                                        SELECT
                                          candidate.id,
                                          place
                                        FROM
                                          candidate
                                          CROSS JOIN LATERAL (
                                            SELECT
                                              store_place (s.latitude, s.longitude, s.show_exact_location) AS place
                                            FROM
                                              stores s
                                            WHERE
                                              s.id = candidate.store_id
                                              AND s.closed_at IS NULL
                                              AND s.suspended_at IS NULL
                                              AND s.latitude IS NOT NULL
                                            LIMIT
                                              1
                                          ) store
                                        WHERE
                                          EXISTS (
                                            SELECT
                                            FROM
                                              rare
                                          )
                                          AND (
                                            SELECT
                                              count(*) < 5001
                                            FROM
                                              candidate
                                          )
                                      ) placed
                                    OFFSET
                                      0
                                  ) measured
                                WHERE
                                  distance BETWEEN $12::bigint AND $13::bigint
                              ) nearby
                            WHERE
                              (distance, - id) > ($14::bigint, $15::bigint)
                            ORDER BY
                              distance,
                              id DESC
                            LIMIT
                              5000
                          ) nearest
                          JOIN LATERAL (
                            SELECT
                              *
                            FROM
                              posts
                            WHERE
                              id = nearest.id
                            LIMIT
                              1
                          ) item USING (id)
                      ) item
                      LEFT JOIN LATERAL (
                        SELECT
                          s.search_text AS store_text,
                          s.region_keys
                        FROM
                          stores s
                        WHERE
                          s.id = item.store_id
                          AND s.closed_at IS NULL
                          AND s.suspended_at IS NULL
                          AND (
                            $16::int IS NULL
                            OR (
                              SELECT
                                true
                              FROM
                                store_category_links
                              WHERE
                                store_id = item.store_id
                                AND category_id = $17::int
                            ) IS NOT NULL
                          )
                        OFFSET
                          0
                      ) s ON true
                  ) item
              ) item
            WINDOW
              running AS (
                ORDER BY
                  distance,
                  id DESC ROWS UNBOUNDED PRECEDING
              )
          ) item
      ) item
    WHERE
      matches
      OR is_last
    ORDER BY
      distance,
      id DESC
    LIMIT
      $18
  ),
  page AS (
    SELECT
      id,
      distance
    FROM
      walked
    WHERE
      matches
  ),
  stopped AS (
    SELECT
      distance AS "stoppedTime",
      id AS "stoppedId"
    FROM
      walked
    WHERE
      is_last
      AND (
        SELECT
          count(*)
        FROM
          page
      ) < $19
    ORDER BY
      distance,
      id DESC
    LIMIT
      1
  )
SELECT
  found.*,
  stopped.*,
  EXISTS (
    SELECT
    FROM
      rare
  )
  AND (
    SELECT
      count(*) < 5001
    FROM
      candidate
  ) AS "isUsable"
FROM
  (
    SELECT
  ) one_row
  LEFT JOIN stopped ON true
  LEFT JOIN (
    SELECT
      p.id,
      p.title,
      p.content,
      p.images,
      p.created_at AS "createdAt",
      p.updated_at AS "updatedAt",
      json_build_object(
        'id',
        s.id,
        'name',
        s.name,
        'store_categories',
        coalesce(
          (
            SELECT
              json_agg(
                json_build_object('id', c.id, 'name', c.name)
                ORDER BY
                  l.position
              )
            FROM
              store_category_links l
              JOIN store_categories c ON c.id = l.category_id
            WHERE
              l.store_id = s.id
          ),
          '[]'
        )
      ) AS store,
      to_char(p.closes_on, 'YYYY-MM-DD') AS closes_on,
      (
        p.closed_at IS NULL
        AND (
          p.closes_on IS NULL
          OR p.closes_on >= (now() AT TIME ZONE 'Asia/Seoul')::date
        )
      ) AS "isOpen",
      s.owner_id = $20 AS is_mine,
      (
        SELECT
          r.status
        FROM
          partner_requests r
        WHERE
          r.sender_store_id = (
            SELECT
              id
            FROM
              stores
            WHERE
              owner_id = $21
          )
          AND r.post_id = p.id
        ORDER BY
          r.id DESC
        LIMIT
          1
      ) AS my_request_status,
      page.distance
    FROM
      page
      JOIN posts p ON p.id = page.id
      JOIN stores s ON s.id = p.store_id
  ) found ON true
ORDER BY
  found.distance,
  found.id DESC;

-- Returns: id bigint, title character varying, content character varying, images text[], createdAt timestamp with time zone, updatedAt timestamp with time zone, store json, closes_on text, isOpen boolean, is_mine boolean, my_request_status partner_request_status, distance bigint, stoppedTime bigint, stoppedId bigint, isUsable boolean
-- Pages: at most 1024
/* posts.search */
WITH
  part AS (
    SELECT
      ARRAY(
        SELECT
          keys[place]
        FROM
          generate_series(1, pairs, 1 + (pairs - 1) / 5) place
      ) AS keys
    FROM
      search_key ($1::text) AS folded,
      greatest(char_length(folded) - 1, 1) AS pairs,
      search_keys (folded) AS keys
  ),
  few AS (
    SELECT
      keys
    FROM
      part
    WHERE
      (
        SELECT
          count(*) <= 9
        FROM
          (
            SELECT
            FROM
              posts item
            WHERE
              item.is_visible
              AND search_keys (item.search_text) @> (
                SELECT
                  keys
                FROM
                  part
              )
              AND item.id % 503 = 0
            LIMIT
              10
          ) sampled
      )
      AND (
        SELECT
          count(*) <= 9
        FROM
          (
            SELECT
            FROM
              stores s
            WHERE
              s.closed_at IS NULL
              AND s.suspended_at IS NULL
              AND search_keys (s.search_text) @> (
                SELECT
                  keys
                FROM
                  part
              )
              AND s.id % 503 = 0
            LIMIT
              10
          ) sampled
      )
  ),
  link AS (
    SELECT
      s.id AS store_id
    FROM
      stores s
    WHERE
      s.closed_at IS NULL
      AND s.suspended_at IS NULL
      AND search_keys (s.search_text) @> (
        SELECT
          keys
        FROM
          few
      )
    LIMIT
      2001
  ),
  rare AS (
    SELECT
      keys
    FROM
      few
    WHERE
      (
        SELECT
          count(*) <= 2000
        FROM
          link
      )
  ),
  candidate AS (
    (
      SELECT
        item.id,
        item.created_at,
        item.store_id AS store_id
      FROM
        posts item
      WHERE
        item.is_visible
        AND search_keys (item.search_text) @> (
          SELECT
            keys
          FROM
            rare
        )
        AND item.is_visible
        AND item.closed_at IS NULL
        AND (item.created_at, item.id) < ($2::timestamptz, $3::bigint)
      LIMIT
        5001
    )
    UNION
    (
      SELECT
        item.*
      FROM
        link
        CROSS JOIN LATERAL (
          SELECT
            item.id,
            item.created_at,
            item.store_id AS store_id
          FROM
            posts item
          WHERE
            item.store_id = link.store_id
            AND item.is_visible
            AND item.closed_at IS NULL
            AND (item.created_at, item.id) < ($4::timestamptz, $5::bigint)
          LIMIT
            5001
        ) item
      WHERE
        EXISTS (
          SELECT
          FROM
            rare
        )
      LIMIT
        5001
    )
  ),
  walked AS (
    SELECT
      id,
      created_at,
      is_last,
      NOT is_last
      OR matches AS matches
    FROM
      (
        SELECT
          item.id,
          item.created_at,
          place = 5000
          OR text_read >= 2000000 AS is_last,
          CASE
            WHEN text_read - text_bytes < 2000000 THEN (
              item.closed_at IS NULL
              AND (
                item.closes_on IS NULL
                OR item.closes_on >= (now() AT TIME ZONE 'Asia/Seoul')::date
              )
            )
            AND item.region_keys IS NOT NULL
            AND (
              $6::text = ''
              OR item.region_keys @> (
                SELECT
                  region_words ($7::text)
              )
            )
            AND (
              $8::text = ''
              OR position(
                (
                  SELECT
                    search_key ($9::text)
                ) IN item.search_text
              ) > 0
              OR position(
                (
                  SELECT
                    search_key ($10::text)
                ) IN split_part(item.store_text, E'\n', 1)
              ) > 0
              OR position(
                (
                  SELECT
                    search_key ($11::text)
                ) IN split_part(item.store_text, E'\n', 2)
              ) > 0
            )
          END AS matches
        FROM
          (
            SELECT
              item.*,
              row_number() OVER running AS place,
              sum(text_bytes) OVER running AS text_read
            FROM
              (
                SELECT
                  item.*,
                  CASE
                    WHEN $12::text = '' THEN 0
                    ELSE octet_length(item.search_text) + 500 + coalesce(octet_length(item.store_text), 0)
                  END AS text_bytes
                FROM
                  (
                    SELECT
                      item.*,
                      s.*
                    FROM
                      (
                        SELECT
                          item.*
                        FROM
                          (
                            SELECT
                              *
                            FROM
                              candidate
                            WHERE
                              EXISTS (
                                SELECT
                                FROM
                                  rare
                              )
                              AND (
                                SELECT
                                  count(*) < 5001
                                FROM
                                  candidate
                              )
                            ORDER BY
                              created_at DESC,
                              id DESC
                          ) candidate
                          JOIN LATERAL (
                            SELECT
                              *
                            FROM
                              posts
                            WHERE
                              id = candidate.id
                            LIMIT
                              1
                          ) item USING (id, created_at)
                      ) item
                      LEFT JOIN LATERAL (
                        SELECT
                          s.search_text AS store_text,
                          s.region_keys
                        FROM
                          stores s
                        WHERE
                          s.id = item.store_id
                          AND s.closed_at IS NULL
                          AND s.suspended_at IS NULL
                          AND (
                            $13::int IS NULL
                            OR (
                              SELECT
                                true
                              FROM
                                store_category_links
                              WHERE
                                store_id = item.store_id
                                AND category_id = $14::int
                            ) IS NOT NULL
                          )
                        OFFSET
                          0
                      ) s ON true
                  ) item
              ) item
            WINDOW
              running AS (
                ORDER BY
                  created_at DESC,
                  id DESC ROWS UNBOUNDED PRECEDING
              )
          ) item
      ) item
    WHERE
      matches
      OR is_last
    ORDER BY
      created_at DESC,
      id DESC
    LIMIT
      $15
  ),
  page AS (
    SELECT
      id,
      NULL::bigint AS distance
    FROM
      walked
    WHERE
      matches
  ),
  stopped AS (
    SELECT
      (
        extract(
          epoch
          FROM
            created_at
        ) * 1000
      )::bigint AS "stoppedTime",
      id AS "stoppedId"
    FROM
      walked
    WHERE
      is_last
      AND (
        SELECT
          count(*)
        FROM
          page
      ) < $16
    ORDER BY
      created_at DESC,
      id DESC
    LIMIT
      1
  )
SELECT
  found.*,
  stopped.*,
  EXISTS (
    SELECT
    FROM
      rare
  )
  AND (
    SELECT
      count(*) < 5001
    FROM
      candidate
  ) AS "isUsable"
FROM
  (
    SELECT
  ) one_row
  LEFT JOIN stopped ON true
  LEFT JOIN (
    SELECT
      p.id,
      p.title,
      p.content,
      p.images,
      p.created_at AS "createdAt",
      p.updated_at AS "updatedAt",
      json_build_object(
        'id',
        s.id,
        'name',
        s.name,
        'store_categories',
        coalesce(
          (
            SELECT
              json_agg(
                json_build_object('id', c.id, 'name', c.name)
                ORDER BY
                  l.position
              )
            FROM
              store_category_links l
              JOIN store_categories c ON c.id = l.category_id
            WHERE
              l.store_id = s.id
          ),
          '[]'
        )
      ) AS store,
      to_char(p.closes_on, 'YYYY-MM-DD') AS closes_on,
      (
        p.closed_at IS NULL
        AND (
          p.closes_on IS NULL
          OR p.closes_on >= (now() AT TIME ZONE 'Asia/Seoul')::date
        )
      ) AS "isOpen",
      s.owner_id = $17 AS is_mine,
      (
        SELECT
          r.status
        FROM
          partner_requests r
        WHERE
          r.sender_store_id = (
            SELECT
              id
            FROM
              stores
            WHERE
              owner_id = $18
          )
          AND r.post_id = p.id
        ORDER BY
          r.id DESC
        LIMIT
          1
      ) AS my_request_status,
      page.distance
    FROM
      page
      JOIN posts p ON p.id = page.id
      JOIN stores s ON s.id = p.store_id
  ) found ON true
ORDER BY
  found."createdAt" DESC,
  found.id DESC;

-- Returns: id bigint, title character varying, content character varying, images text[], createdAt timestamp with time zone, updatedAt timestamp with time zone, store json, closes_on text, isOpen boolean, is_mine boolean, my_request_status partner_request_status, distance bigint, stoppedTime bigint, stoppedId bigint, isUsable boolean
-- Pages: at most 512
/* posts.search */
WITH
  part AS (
    SELECT
      ARRAY(
        SELECT
          keys[place]
        FROM
          generate_series(1, pairs, 1 + (pairs - 1) / 5) place
      ) AS keys
    FROM
      search_key ($1::text) AS folded,
      greatest(char_length(folded) - 1, 1) AS pairs,
      search_keys (folded) AS keys
  ),
  few AS (
    SELECT
      keys
    FROM
      part
    WHERE
      (
        SELECT
          count(*) <= 9
        FROM
          (
            SELECT
            FROM
              posts item
            WHERE
              item.is_visible
              AND search_keys (item.search_text) @> (
                SELECT
                  keys
                FROM
                  part
              )
              AND item.id % 503 = 0
            LIMIT
              10
          ) sampled
      )
      AND (
        SELECT
          count(*) <= 9
        FROM
          (
            SELECT
            FROM
              stores s
            WHERE
              s.closed_at IS NULL
              AND s.suspended_at IS NULL
              AND search_keys (s.search_text) @> (
                SELECT
                  keys
                FROM
                  part
              )
              AND s.id % 503 = 0
            LIMIT
              10
          ) sampled
      )
  ),
  link AS (
    SELECT
      s.id AS store_id
    FROM
      stores s
    WHERE
      s.closed_at IS NULL
      AND s.suspended_at IS NULL
      AND search_keys (s.search_text) @> (
        SELECT
          keys
        FROM
          few
      )
    LIMIT
      2001
  ),
  rare AS (
    SELECT
      keys
    FROM
      few
    WHERE
      (
        SELECT
          count(*) <= 2000
        FROM
          link
      )
  ),
  candidate AS (
    (
      SELECT
        item.id,
        item.created_at,
        item.store_id AS store_id
      FROM
        posts item
      WHERE
        item.is_visible
        AND search_keys (item.search_text) @> (
          SELECT
            keys
          FROM
            rare
        )
        AND item.is_visible
        AND item.closed_at IS NULL
      LIMIT
        5001
    )
    UNION
    (
      SELECT
        item.*
      FROM
        link
        CROSS JOIN LATERAL (
          SELECT
            item.id,
            item.created_at,
            item.store_id AS store_id
          FROM
            posts item
          WHERE
            item.store_id = link.store_id
            AND item.is_visible
            AND item.closed_at IS NULL
          LIMIT
            5001
        ) item
      WHERE
        EXISTS (
          SELECT
          FROM
            rare
        )
      LIMIT
        5001
    )
  ),
  walked AS (
    SELECT
      id,
      distance,
      is_last,
      NOT is_last
      OR matches AS matches
    FROM
      (
        SELECT
          item.id,
          item.distance,
          place = 5000
          OR text_read >= 2000000 AS is_last,
          CASE
            WHEN text_read - text_bytes < 2000000 THEN (
              item.closed_at IS NULL
              AND (
                item.closes_on IS NULL
                OR item.closes_on >= (now() AT TIME ZONE 'Asia/Seoul')::date
              )
            )
            AND item.region_keys IS NOT NULL
            AND (
              $2::text = ''
              OR item.region_keys @> (
                SELECT
                  region_words ($3::text)
              )
            )
            AND (
              $4::text = ''
              OR position(
                (
                  SELECT
                    search_key ($5::text)
                ) IN item.search_text
              ) > 0
              OR position(
                (
                  SELECT
                    search_key ($6::text)
                ) IN split_part(item.store_text, E'\n', 1)
              ) > 0
              OR position(
                (
                  SELECT
                    search_key ($7::text)
                ) IN split_part(item.store_text, E'\n', 2)
              ) > 0
            )
          END AS matches
        FROM
          (
            SELECT
              item.*,
              row_number() OVER running AS place,
              sum(text_bytes) OVER running AS text_read
            FROM
              (
                SELECT
                  item.*,
                  CASE
                    WHEN $8::text = '' THEN 0
                    ELSE octet_length(item.search_text) + 500 + coalesce(octet_length(item.store_text), 0)
                  END AS text_bytes
                FROM
                  (
                    SELECT
                      item.*,
                      s.*
                    FROM
                      (
                        SELECT
                          item.*,
                          nearest.distance
                        FROM
                          (
                            SELECT
                              *
                            FROM
                              (
                                SELECT
                                  id,
                                  distance
                                FROM
                                  (
                                    SELECT
                                      id,
                                      (
                                        12742017600 * asin(
                                          sqrt(
                                            least(
                                              1,
                                              sin(radians(place[1] - $9::float8) / 2) ^ 2 + cos(radians(place[1])) * cos(radians($10::float8)) * sin(radians(place[0] - $11::float8) / 2) ^ 2
                                            )
                                          )
                                        )
                                      )::bigint AS distance
                                    FROM
                                      (
                                        SELECT
                                          candidate.id,
                                          place
                                        FROM
                                          candidate
                                          CROSS JOIN LATERAL (
                                            SELECT
                                              store_place (s.latitude, s.longitude, s.show_exact_location) AS place
                                            FROM
                                              stores s
                                            WHERE
                                              s.id = candidate.store_id
                                              AND s.closed_at IS NULL
                                              AND s.suspended_at IS NULL
                                              AND s.latitude IS NOT NULL
                                            LIMIT
                                              1
                                          ) store
                                        WHERE
                                          EXISTS (
                                            SELECT
                                            FROM
                                              rare
                                          )
                                          AND (
                                            SELECT
                                              count(*) < 5001
                                            FROM
                                              candidate
                                          )
                                      ) placed
                                    OFFSET
                                      0
                                  ) measured
                                WHERE
                                  distance BETWEEN $12::bigint AND $13::bigint
                              ) nearby
                            WHERE
                              (distance, - id) > ($14::bigint, $15::bigint)
                            ORDER BY
                              distance,
                              id DESC
                            LIMIT
                              5000
                          ) nearest
                          JOIN LATERAL (
                            SELECT
                              *
                            FROM
                              posts
                            WHERE
                              id = nearest.id
                            LIMIT
                              1
                          ) item USING (id)
                      ) item
                      LEFT JOIN LATERAL (
                        SELECT
                          s.search_text AS store_text,
                          s.region_keys
                        FROM
                          stores s
                        WHERE
                          s.id = item.store_id
                          AND s.closed_at IS NULL
                          AND s.suspended_at IS NULL
                          AND (
                            $16::int IS NULL
                            OR (
                              SELECT
                                true
                              FROM
                                store_category_links
                              WHERE
                                store_id = item.store_id
                                AND category_id = $17::int
                            ) IS NOT NULL
                          )
                        OFFSET
                          0
                      ) s ON true
                  ) item
              ) item
            WINDOW
              running AS (
                ORDER BY
                  distance,
                  id DESC ROWS UNBOUNDED PRECEDING
              )
          ) item
      ) item
    WHERE
      matches
      OR is_last
    ORDER BY
      distance,
      id DESC
    LIMIT
      $18
  ),
  page AS (
    SELECT
      id,
      distance
    FROM
      walked
    WHERE
      matches
  ),
  stopped AS (
    SELECT
      distance AS "stoppedTime",
      id AS "stoppedId"
    FROM
      walked
    WHERE
      is_last
      AND (
        SELECT
          count(*)
        FROM
          page
      ) < $19
    ORDER BY
      distance,
      id DESC
    LIMIT
      1
  )
SELECT
  found.*,
  stopped.*,
  EXISTS (
    SELECT
    FROM
      rare
  )
  AND (
    SELECT
      count(*) < 5001
    FROM
      candidate
  ) AS "isUsable"
FROM
  (
    SELECT
  ) one_row
  LEFT JOIN stopped ON true
  LEFT JOIN (
    SELECT
      p.id,
      p.title,
      p.content,
      p.images,
      p.created_at AS "createdAt",
      p.updated_at AS "updatedAt",
      json_build_object(
        'id',
        s.id,
        'name',
        s.name,
        'store_categories',
        coalesce(
          (
            SELECT
              json_agg(
                json_build_object('id', c.id, 'name', c.name)
                ORDER BY
                  l.position
              )
            FROM
              store_category_links l
              JOIN store_categories c ON c.id = l.category_id
            WHERE
              l.store_id = s.id
          ),
          '[]'
        )
      ) AS store,
      to_char(p.closes_on, 'YYYY-MM-DD') AS closes_on,
      (
        p.closed_at IS NULL
        AND (
          p.closes_on IS NULL
          OR p.closes_on >= (now() AT TIME ZONE 'Asia/Seoul')::date
        )
      ) AS "isOpen",
      s.owner_id = $20 AS is_mine,
      (
        SELECT
          r.status
        FROM
          partner_requests r
        WHERE
          r.sender_store_id = (
            SELECT
              id
            FROM
              stores
            WHERE
              owner_id = $21
          )
          AND r.post_id = p.id
        ORDER BY
          r.id DESC
        LIMIT
          1
      ) AS my_request_status,
      page.distance
    FROM
      page
      JOIN posts p ON p.id = page.id
      JOIN stores s ON s.id = p.store_id
  ) found ON true
ORDER BY
  found.distance,
  found.id DESC;

-- Returns: id bigint, title character varying, content character varying, images text[], createdAt timestamp with time zone, updatedAt timestamp with time zone, store json, closes_on text, isOpen boolean, is_mine boolean, my_request_status partner_request_status, distance bigint, stoppedTime bigint, stoppedId bigint, isUsable boolean
-- Pages: at most 256
/* posts.search */
WITH
  part AS (
    SELECT
      ARRAY(
        SELECT
          keys[place]
        FROM
          generate_series(1, pairs, 1 + (pairs - 1) / 5) place
      ) AS keys
    FROM
      search_key ($1::text) AS folded,
      greatest(char_length(folded) - 1, 1) AS pairs,
      search_keys (folded) AS keys
  ),
  few AS (
    SELECT
      keys
    FROM
      part
    WHERE
      (
        SELECT
          count(*) <= 9
        FROM
          (
            SELECT
            FROM
              posts item
            WHERE
              item.is_visible
              AND search_keys (item.search_text) @> (
                SELECT
                  keys
                FROM
                  part
              )
              AND item.id % 503 = 0
            LIMIT
              10
          ) sampled
      )
      AND (
        SELECT
          count(*) <= 9
        FROM
          (
            SELECT
            FROM
              stores s
            WHERE
              s.closed_at IS NULL
              AND s.suspended_at IS NULL
              AND search_keys (s.search_text) @> (
                SELECT
                  keys
                FROM
                  part
              )
              AND s.id % 503 = 0
            LIMIT
              10
          ) sampled
      )
  ),
  link AS (
    SELECT
      s.id AS store_id
    FROM
      stores s
    WHERE
      s.closed_at IS NULL
      AND s.suspended_at IS NULL
      AND search_keys (s.search_text) @> (
        SELECT
          keys
        FROM
          few
      )
    LIMIT
      2001
  ),
  rare AS (
    SELECT
      keys
    FROM
      few
    WHERE
      (
        SELECT
          count(*) <= 2000
        FROM
          link
      )
  ),
  candidate AS (
    (
      SELECT
        item.id,
        item.created_at,
        item.store_id AS store_id
      FROM
        posts item
      WHERE
        item.is_visible
        AND search_keys (item.search_text) @> (
          SELECT
            keys
          FROM
            rare
        )
        AND item.is_visible
        AND true
        AND (item.created_at, item.id) < ($2::timestamptz, $3::bigint)
      LIMIT
        5001
    )
    UNION
    (
      SELECT
        item.*
      FROM
        link
        CROSS JOIN LATERAL (
          SELECT
            item.id,
            item.created_at,
            item.store_id AS store_id
          FROM
            posts item
          WHERE
            item.store_id = link.store_id
            AND item.is_visible
            AND true
            AND (item.created_at, item.id) < ($4::timestamptz, $5::bigint)
          LIMIT
            5001
        ) item
      WHERE
        EXISTS (
          SELECT
          FROM
            rare
        )
      LIMIT
        5001
    )
  ),
  walked AS (
    SELECT
      id,
      created_at,
      is_last,
      NOT is_last
      OR matches AS matches
    FROM
      (
        SELECT
          item.id,
          item.created_at,
          place = 5000
          OR text_read >= 2000000 AS is_last,
          CASE
            WHEN text_read - text_bytes < 2000000 THEN (
              $6::bool
              OR NOT (
                item.closed_at IS NULL
                AND (
                  item.closes_on IS NULL
                  OR item.closes_on >= (now() AT TIME ZONE 'Asia/Seoul')::date
                )
              )
            )
            AND item.region_keys IS NOT NULL
            AND (
              $7::text = ''
              OR item.region_keys @> (
                SELECT
                  region_words ($8::text)
              )
            )
            AND (
              $9::text = ''
              OR position(
                (
                  SELECT
                    search_key ($10::text)
                ) IN item.search_text
              ) > 0
              OR position(
                (
                  SELECT
                    search_key ($11::text)
                ) IN split_part(item.store_text, E'\n', 1)
              ) > 0
              OR position(
                (
                  SELECT
                    search_key ($12::text)
                ) IN split_part(item.store_text, E'\n', 2)
              ) > 0
            )
          END AS matches
        FROM
          (
            SELECT
              item.*,
              row_number() OVER running AS place,
              sum(text_bytes) OVER running AS text_read
            FROM
              (
                SELECT
                  item.*,
                  CASE
                    WHEN $13::text = '' THEN 0
                    ELSE octet_length(item.search_text) + 500 + coalesce(octet_length(item.store_text), 0)
                  END AS text_bytes
                FROM
                  (
                    SELECT
                      item.*,
                      s.*
                    FROM
                      (
                        SELECT
                          item.*
                        FROM
                          (
                            SELECT
                              *
                            FROM
                              candidate
                            WHERE
                              EXISTS (
                                SELECT
                                FROM
                                  rare
                              )
                              AND (
                                SELECT
                                  count(*) < 5001
                                FROM
                                  candidate
                              )
                            ORDER BY
                              created_at DESC,
                              id DESC
                          ) candidate
                          JOIN LATERAL (
                            SELECT
                              *
                            FROM
                              posts
                            WHERE
                              id = candidate.id
                            LIMIT
                              1
                          ) item USING (id, created_at)
                      ) item
                      LEFT JOIN LATERAL (
                        SELECT
                          s.search_text AS store_text,
                          s.region_keys
                        FROM
                          stores s
                        WHERE
                          s.id = item.store_id
                          AND s.closed_at IS NULL
                          AND s.suspended_at IS NULL
                          AND (
                            $14::int IS NULL
                            OR (
                              SELECT
                                true
                              FROM
                                store_category_links
                              WHERE
                                store_id = item.store_id
                                AND category_id = $15::int
                            ) IS NOT NULL
                          )
                        OFFSET
                          0
                      ) s ON true
                  ) item
              ) item
            WINDOW
              running AS (
                ORDER BY
                  created_at DESC,
                  id DESC ROWS UNBOUNDED PRECEDING
              )
          ) item
      ) item
    WHERE
      matches
      OR is_last
    ORDER BY
      created_at DESC,
      id DESC
    LIMIT
      $16
  ),
  page AS (
    SELECT
      id,
      NULL::bigint AS distance
    FROM
      walked
    WHERE
      matches
  ),
  stopped AS (
    SELECT
      (
        extract(
          epoch
          FROM
            created_at
        ) * 1000
      )::bigint AS "stoppedTime",
      id AS "stoppedId"
    FROM
      walked
    WHERE
      is_last
      AND (
        SELECT
          count(*)
        FROM
          page
      ) < $17
    ORDER BY
      created_at DESC,
      id DESC
    LIMIT
      1
  )
SELECT
  found.*,
  stopped.*,
  EXISTS (
    SELECT
    FROM
      rare
  )
  AND (
    SELECT
      count(*) < 5001
    FROM
      candidate
  ) AS "isUsable"
FROM
  (
    SELECT
  ) one_row
  LEFT JOIN stopped ON true
  LEFT JOIN (
    SELECT
      p.id,
      p.title,
      p.content,
      p.images,
      p.created_at AS "createdAt",
      p.updated_at AS "updatedAt",
      json_build_object(
        'id',
        s.id,
        'name',
        s.name,
        'store_categories',
        coalesce(
          (
            SELECT
              json_agg(
                json_build_object('id', c.id, 'name', c.name)
                ORDER BY
                  l.position
              )
            FROM
              store_category_links l
              JOIN store_categories c ON c.id = l.category_id
            WHERE
              l.store_id = s.id
          ),
          '[]'
        )
      ) AS store,
      to_char(p.closes_on, 'YYYY-MM-DD') AS closes_on,
      (
        p.closed_at IS NULL
        AND (
          p.closes_on IS NULL
          OR p.closes_on >= (now() AT TIME ZONE 'Asia/Seoul')::date
        )
      ) AS "isOpen",
      s.owner_id = $18 AS is_mine,
      (
        SELECT
          r.status
        FROM
          partner_requests r
        WHERE
          r.sender_store_id = (
            SELECT
              id
            FROM
              stores
            WHERE
              owner_id = $19
          )
          AND r.post_id = p.id
        ORDER BY
          r.id DESC
        LIMIT
          1
      ) AS my_request_status,
      page.distance
    FROM
      page
      JOIN posts p ON p.id = page.id
      JOIN stores s ON s.id = p.store_id
  ) found ON true
ORDER BY
  found."createdAt" DESC,
  found.id DESC;

-- Returns: id bigint, title character varying, content character varying, images text[], createdAt timestamp with time zone, updatedAt timestamp with time zone, store json, closes_on text, isOpen boolean, is_mine boolean, my_request_status partner_request_status, distance bigint, stoppedTime bigint, stoppedId bigint, isUsable boolean
-- Pages: at most 128
/* posts.search */
WITH
  part AS (
    SELECT
      ARRAY(
        SELECT
          keys[place]
        FROM
          generate_series(1, pairs, 1 + (pairs - 1) / 5) place
      ) AS keys
    FROM
      search_key ($1::text) AS folded,
      greatest(char_length(folded) - 1, 1) AS pairs,
      search_keys (folded) AS keys
  ),
  few AS (
    SELECT
      keys
    FROM
      part
    WHERE
      (
        SELECT
          count(*) <= 9
        FROM
          (
            SELECT
            FROM
              posts item
            WHERE
              item.is_visible
              AND search_keys (item.search_text) @> (
                SELECT
                  keys
                FROM
                  part
              )
              AND item.id % 503 = 0
            LIMIT
              10
          ) sampled
      )
      AND (
        SELECT
          count(*) <= 9
        FROM
          (
            SELECT
            FROM
              stores s
            WHERE
              s.closed_at IS NULL
              AND s.suspended_at IS NULL
              AND search_keys (s.search_text) @> (
                SELECT
                  keys
                FROM
                  part
              )
              AND s.id % 503 = 0
            LIMIT
              10
          ) sampled
      )
  ),
  link AS (
    SELECT
      s.id AS store_id
    FROM
      stores s
    WHERE
      s.closed_at IS NULL
      AND s.suspended_at IS NULL
      AND search_keys (s.search_text) @> (
        SELECT
          keys
        FROM
          few
      )
    LIMIT
      2001
  ),
  rare AS (
    SELECT
      keys
    FROM
      few
    WHERE
      (
        SELECT
          count(*) <= 2000
        FROM
          link
      )
  ),
  candidate AS (
    (
      SELECT
        item.id,
        item.created_at,
        item.store_id AS store_id
      FROM
        posts item
      WHERE
        item.is_visible
        AND search_keys (item.search_text) @> (
          SELECT
            keys
          FROM
            rare
        )
        AND item.is_visible
        AND true
        AND (item.created_at, item.id) < ($2::timestamptz, $3::bigint)
      LIMIT
        5001
    )
    UNION
    (
      SELECT
        item.*
      FROM
        link
        CROSS JOIN LATERAL (
          SELECT
            item.id,
            item.created_at,
            item.store_id AS store_id
          FROM
            posts item
          WHERE
            item.store_id = link.store_id
            AND item.is_visible
            AND true
            AND (item.created_at, item.id) < ($4::timestamptz, $5::bigint)
          LIMIT
            5001
        ) item
      WHERE
        EXISTS (
          SELECT
          FROM
            rare
        )
      LIMIT
        5001
    )
  ),
  walked AS (
    SELECT
      id,
      created_at,
      is_last,
      NOT is_last
      OR matches AS matches
    FROM
      (
        SELECT
          item.id,
          item.created_at,
          place = 5000
          OR text_read >= 2000000 AS is_last,
          CASE
            WHEN text_read - text_bytes < 2000000 THEN (
              $6::bool
              OR NOT (
                item.closed_at IS NULL
                AND (
                  item.closes_on IS NULL
                  OR item.closes_on >= (now() AT TIME ZONE 'Asia/Seoul')::date
                )
              )
            )
            AND item.store_id = (
              SELECT
                s.id
              FROM
                stores s
              WHERE
                s.id = (
                  SELECT
                    id
                  FROM
                    stores
                  WHERE
                    id = coalesce(
                      $7::int,
                      (
                        SELECT
                          id
                        FROM
                          stores
                        WHERE
                          owner_id = $8::int
                      )
                    )
                    AND (
                      $9::int IS NULL
                      OR owner_id = $10::int
                    )
                )
                AND s.closed_at IS NULL
                AND s.suspended_at IS NULL
                AND (
                  $11::text = ''
                  OR s.region_keys @> (
                    SELECT
                      region_words ($12::text)
                  )
                )
                AND (
                  $13::int IS NULL
                  OR (
                    SELECT
                      true
                    FROM
                      store_category_links
                    WHERE
                      store_id = s.id
                      AND category_id = $14::int
                  ) IS NOT NULL
                )
            )
            AND item.region_keys IS NOT NULL
            AND (
              $15::text = ''
              OR item.region_keys @> (
                SELECT
                  region_words ($16::text)
              )
            )
            AND (
              $17::text = ''
              OR position(
                (
                  SELECT
                    search_key ($18::text)
                ) IN item.search_text
              ) > 0
              OR position(
                (
                  SELECT
                    search_key ($19::text)
                ) IN split_part(item.store_text, E'\n', 1)
              ) > 0
              OR position(
                (
                  SELECT
                    search_key ($20::text)
                ) IN split_part(item.store_text, E'\n', 2)
              ) > 0
            )
          END AS matches
        FROM
          (
            SELECT
              item.*,
              row_number() OVER running AS place,
              sum(text_bytes) OVER running AS text_read
            FROM
              (
                SELECT
                  item.*,
                  CASE
                    WHEN $21::text = '' THEN 0
                    ELSE octet_length(item.search_text) + 500 + coalesce(octet_length(item.store_text), 0)
                  END AS text_bytes
                FROM
                  (
                    SELECT
                      item.*,
                      s.*
                    FROM
                      (
                        SELECT
                          item.*
                        FROM
                          (
                            SELECT
                              *
                            FROM
                              candidate
                            WHERE
                              EXISTS (
                                SELECT
                                FROM
                                  rare
                              )
                              AND (
                                SELECT
                                  count(*) < 5001
                                FROM
                                  candidate
                              )
                            ORDER BY
                              created_at DESC,
                              id DESC
                          ) candidate
                          JOIN LATERAL (
                            SELECT
                              *
                            FROM
                              posts
                            WHERE
                              id = candidate.id
                            LIMIT
                              1
                          ) item USING (id, created_at)
                      ) item
                      LEFT JOIN LATERAL (
                        SELECT
                          s.search_text AS store_text,
                          s.region_keys
                        FROM
                          stores s
                        WHERE
                          s.id = item.store_id
                          AND s.closed_at IS NULL
                          AND s.suspended_at IS NULL
                          AND (
                            $22::int IS NULL
                            OR (
                              SELECT
                                true
                              FROM
                                store_category_links
                              WHERE
                                store_id = item.store_id
                                AND category_id = $23::int
                            ) IS NOT NULL
                          )
                        OFFSET
                          0
                      ) s ON true
                  ) item
              ) item
            WINDOW
              running AS (
                ORDER BY
                  created_at DESC,
                  id DESC ROWS UNBOUNDED PRECEDING
              )
          ) item
      ) item
    WHERE
      matches
      OR is_last
    ORDER BY
      created_at DESC,
      id DESC
    LIMIT
      $24
  ),
  page AS (
    SELECT
      id,
      NULL::bigint AS distance
    FROM
      walked
    WHERE
      matches
  ),
  stopped AS (
    SELECT
      (
        extract(
          epoch
          FROM
            created_at
        ) * 1000
      )::bigint AS "stoppedTime",
      id AS "stoppedId"
    FROM
      walked
    WHERE
      is_last
      AND (
        SELECT
          count(*)
        FROM
          page
      ) < $25
    ORDER BY
      created_at DESC,
      id DESC
    LIMIT
      1
  )
SELECT
  found.*,
  stopped.*,
  EXISTS (
    SELECT
    FROM
      rare
  )
  AND (
    SELECT
      count(*) < 5001
    FROM
      candidate
  ) AS "isUsable"
FROM
  (
    SELECT
  ) one_row
  LEFT JOIN stopped ON true
  LEFT JOIN (
    SELECT
      p.id,
      p.title,
      p.content,
      p.images,
      p.created_at AS "createdAt",
      p.updated_at AS "updatedAt",
      json_build_object(
        'id',
        s.id,
        'name',
        s.name,
        'store_categories',
        coalesce(
          (
            SELECT
              json_agg(
                json_build_object('id', c.id, 'name', c.name)
                ORDER BY
                  l.position
              )
            FROM
              store_category_links l
              JOIN store_categories c ON c.id = l.category_id
            WHERE
              l.store_id = s.id
          ),
          '[]'
        )
      ) AS store,
      to_char(p.closes_on, 'YYYY-MM-DD') AS closes_on,
      (
        p.closed_at IS NULL
        AND (
          p.closes_on IS NULL
          OR p.closes_on >= (now() AT TIME ZONE 'Asia/Seoul')::date
        )
      ) AS "isOpen",
      s.owner_id = $26 AS is_mine,
      (
        SELECT
          r.status
        FROM
          partner_requests r
        WHERE
          r.sender_store_id = (
            SELECT
              id
            FROM
              stores
            WHERE
              owner_id = $27
          )
          AND r.post_id = p.id
        ORDER BY
          r.id DESC
        LIMIT
          1
      ) AS my_request_status,
      page.distance
    FROM
      page
      JOIN posts p ON p.id = page.id
      JOIN stores s ON s.id = p.store_id
  ) found ON true
ORDER BY
  found."createdAt" DESC,
  found.id DESC;

-- Returns: id bigint, title character varying, content character varying, images text[], createdAt timestamp with time zone, updatedAt timestamp with time zone, store json, closes_on text, isOpen boolean, is_mine boolean, my_request_status partner_request_status, distance bigint, stoppedTime bigint, stoppedId bigint, isUsable boolean
-- Pages: at most 64
/* posts.search */
WITH
  part AS (
    SELECT
      region_words ($1::text) AS keys
  ),
  few AS (
    SELECT
      keys
    FROM
      part
    WHERE
      true
      AND (
        SELECT
          count(*) <= 9
        FROM
          (
            SELECT
            FROM
              stores s
            WHERE
              s.closed_at IS NULL
              AND s.suspended_at IS NULL
              AND s.region_keys @> (
                SELECT
                  keys
                FROM
                  part
              )
              AND s.id % 503 = 0
            LIMIT
              10
          ) sampled
      )
  ),
  link AS (
    SELECT
      s.id AS store_id
    FROM
      stores s
    WHERE
      s.closed_at IS NULL
      AND s.suspended_at IS NULL
      AND s.region_keys @> (
        SELECT
          keys
        FROM
          few
      )
    LIMIT
      2001
  ),
  rare AS (
    SELECT
      keys
    FROM
      few
    WHERE
      (
        SELECT
          count(*) <= 2000
        FROM
          link
      )
  ),
  candidate AS (
    SELECT
      item.*
    FROM
      link
      CROSS JOIN LATERAL (
        SELECT
          item.id,
          item.created_at,
          item.store_id AS store_id
        FROM
          posts item
        WHERE
          item.store_id = link.store_id
          AND item.is_visible
          AND item.closed_at IS NULL
          AND (item.created_at, item.id) < ($2::timestamptz, $3::bigint)
        LIMIT
          5001
      ) item
    WHERE
      EXISTS (
        SELECT
        FROM
          rare
      )
    LIMIT
      5001
  ),
  walked AS (
    SELECT
      id,
      created_at,
      is_last,
      NOT is_last
      OR matches AS matches
    FROM
      (
        SELECT
          item.id,
          item.created_at,
          place = 5000
          OR text_read >= 2000000 AS is_last,
          CASE
            WHEN text_read - text_bytes < 2000000 THEN (
              item.closed_at IS NULL
              AND (
                item.closes_on IS NULL
                OR item.closes_on >= (now() AT TIME ZONE 'Asia/Seoul')::date
              )
            )
            AND item.region_keys IS NOT NULL
            AND (
              $4::text = ''
              OR item.region_keys @> (
                SELECT
                  region_words ($5::text)
              )
            )
            AND (
              $6::text = ''
              OR position(
                (
                  SELECT
                    search_key ($7::text)
                ) IN item.search_text
              ) > 0
              OR position(
                (
                  SELECT
                    search_key ($8::text)
                ) IN split_part(item.store_text, E'\n', 1)
              ) > 0
              OR position(
                (
                  SELECT
                    search_key ($9::text)
                ) IN split_part(item.store_text, E'\n', 2)
              ) > 0
            )
          END AS matches
        FROM
          (
            SELECT
              item.*,
              row_number() OVER running AS place,
              sum(text_bytes) OVER running AS text_read
            FROM
              (
                SELECT
                  item.*,
                  CASE
                    WHEN $10::text = '' THEN 0
                    ELSE octet_length(item.search_text) + 500 + coalesce(octet_length(item.store_text), 0)
                  END AS text_bytes
                FROM
                  (
                    SELECT
                      item.*,
                      s.*
                    FROM
                      (
                        SELECT
                          item.*
                        FROM
                          (
                            SELECT
                              *
                            FROM
                              candidate
                            WHERE
                              EXISTS (
                                SELECT
                                FROM
                                  rare
                              )
                              AND (
                                SELECT
                                  count(*) < 5001
                                FROM
                                  candidate
                              )
                            ORDER BY
                              created_at DESC,
                              id DESC
                          ) candidate
                          JOIN LATERAL (
                            SELECT
                              *
                            FROM
                              posts
                            WHERE
                              id = candidate.id
                            LIMIT
                              1
                          ) item USING (id, created_at)
                      ) item
                      LEFT JOIN LATERAL (
                        SELECT
                          s.search_text AS store_text,
                          s.region_keys
                        FROM
                          stores s
                        WHERE
                          s.id = item.store_id
                          AND s.closed_at IS NULL
                          AND s.suspended_at IS NULL
                          AND (
                            $11::int IS NULL
                            OR (
                              SELECT
                                true
                              FROM
                                store_category_links
                              WHERE
                                store_id = item.store_id
                                AND category_id = $12::int
                            ) IS NOT NULL
                          )
                        OFFSET
                          0
                      ) s ON true
                  ) item
              ) item
            WINDOW
              running AS (
                ORDER BY
                  created_at DESC,
                  id DESC ROWS UNBOUNDED PRECEDING
              )
          ) item
      ) item
    WHERE
      matches
      OR is_last
    ORDER BY
      created_at DESC,
      id DESC
    LIMIT
      $13
  ),
  page AS (
    SELECT
      id,
      NULL::bigint AS distance
    FROM
      walked
    WHERE
      matches
  ),
  stopped AS (
    SELECT
      (
        extract(
          epoch
          FROM
            created_at
        ) * 1000
      )::bigint AS "stoppedTime",
      id AS "stoppedId"
    FROM
      walked
    WHERE
      is_last
      AND (
        SELECT
          count(*)
        FROM
          page
      ) < $14
    ORDER BY
      created_at DESC,
      id DESC
    LIMIT
      1
  )
SELECT
  found.*,
  stopped.*,
  EXISTS (
    SELECT
    FROM
      rare
  )
  AND (
    SELECT
      count(*) < 5001
    FROM
      candidate
  ) AS "isUsable"
FROM
  (
    SELECT
  ) one_row
  LEFT JOIN stopped ON true
  LEFT JOIN (
    SELECT
      p.id,
      p.title,
      p.content,
      p.images,
      p.created_at AS "createdAt",
      p.updated_at AS "updatedAt",
      json_build_object(
        'id',
        s.id,
        'name',
        s.name,
        'store_categories',
        coalesce(
          (
            SELECT
              json_agg(
                json_build_object('id', c.id, 'name', c.name)
                ORDER BY
                  l.position
              )
            FROM
              store_category_links l
              JOIN store_categories c ON c.id = l.category_id
            WHERE
              l.store_id = s.id
          ),
          '[]'
        )
      ) AS store,
      to_char(p.closes_on, 'YYYY-MM-DD') AS closes_on,
      (
        p.closed_at IS NULL
        AND (
          p.closes_on IS NULL
          OR p.closes_on >= (now() AT TIME ZONE 'Asia/Seoul')::date
        )
      ) AS "isOpen",
      s.owner_id = $15 AS is_mine,
      (
        SELECT
          r.status
        FROM
          partner_requests r
        WHERE
          r.sender_store_id = (
            SELECT
              id
            FROM
              stores
            WHERE
              owner_id = $16
          )
          AND r.post_id = p.id
        ORDER BY
          r.id DESC
        LIMIT
          1
      ) AS my_request_status,
      page.distance
    FROM
      page
      JOIN posts p ON p.id = page.id
      JOIN stores s ON s.id = p.store_id
  ) found ON true
ORDER BY
  found."createdAt" DESC,
  found.id DESC;

-- Returns: id bigint, title character varying, content character varying, images text[], createdAt timestamp with time zone, updatedAt timestamp with time zone, store json, closes_on text, isOpen boolean, is_mine boolean, my_request_status partner_request_status, distance bigint, stoppedTime bigint, stoppedId bigint, isUsable boolean
-- Pages: at most 4096
/* posts.search */
WITH
  walked AS (
    SELECT
      id,
      created_at,
      is_last,
      NOT is_last
      OR matches AS matches
    FROM
      (
        SELECT
          item.id,
          item.created_at,
          place = 500
          OR text_read >= 1000000 AS is_last,
          CASE
            WHEN text_read - text_bytes < 1000000 THEN (
              $1::bool
              OR NOT (
                item.closed_at IS NULL
                AND (
                  item.closes_on IS NULL
                  OR item.closes_on >= (now() AT TIME ZONE 'Asia/Seoul')::date
                )
              )
            )
            AND item.region_keys IS NOT NULL
            AND (
              $2::text = ''
              OR item.region_keys @> (
                SELECT
                  region_words ($3::text)
              )
            )
            AND (
              $4::text = ''
              OR position(
                (
                  SELECT
                    search_key ($5::text)
                ) IN item.search_text
              ) > 0
              OR position(
                (
                  SELECT
                    search_key ($6::text)
                ) IN split_part(item.store_text, E'\n', 1)
              ) > 0
              OR position(
                (
                  SELECT
                    search_key ($7::text)
                ) IN split_part(item.store_text, E'\n', 2)
              ) > 0
            )
          END AS matches
        FROM
          (
            SELECT
              item.*,
              row_number() OVER running AS place,
              sum(text_bytes) OVER running AS text_read
            FROM
              (
                SELECT
                  item.*,
                  CASE
                    WHEN $8::text = '' THEN 0
                    ELSE octet_length(item.search_text) + 500 + coalesce(octet_length(item.store_text), 0)
                  END AS text_bytes
                FROM
                  (
                    SELECT
                      item.*,
                      s.*
                    FROM
                      (
                        SELECT
                          item.*
                        FROM
                          posts item
                        WHERE
                          item.is_visible
                          AND true
                          AND (item.created_at, item.id) < ($9::timestamptz, $10::bigint)
                        ORDER BY
                          created_at DESC,
                          id DESC
                        LIMIT
                          500
                      ) item
                      LEFT JOIN LATERAL (
                        SELECT
                          s.search_text AS store_text,
                          s.region_keys
                        FROM
                          stores s
                        WHERE
                          s.id = item.store_id
                          AND s.closed_at IS NULL
                          AND s.suspended_at IS NULL
                          AND (
                            $11::int IS NULL
                            OR (
                              SELECT
                                true
                              FROM
                                store_category_links
                              WHERE
                                store_id = item.store_id
                                AND category_id = $12::int
                            ) IS NOT NULL
                          )
                        OFFSET
                          0
                      ) s ON true
                  ) item
              ) item
            WINDOW
              running AS (
                ORDER BY
                  created_at DESC,
                  id DESC ROWS UNBOUNDED PRECEDING
              )
          ) item
      ) item
    WHERE
      matches
      OR is_last
    ORDER BY
      created_at DESC,
      id DESC
    LIMIT
      $13
  ),
  page AS (
    SELECT
      id,
      NULL::bigint AS distance
    FROM
      walked
    WHERE
      matches
  ),
  stopped AS (
    SELECT
      (
        extract(
          epoch
          FROM
            created_at
        ) * 1000
      )::bigint AS "stoppedTime",
      id AS "stoppedId"
    FROM
      walked
    WHERE
      is_last
      AND (
        SELECT
          count(*)
        FROM
          page
      ) < $14
    ORDER BY
      created_at DESC,
      id DESC
    LIMIT
      1
  )
SELECT
  found.*,
  stopped.*,
  true AS "isUsable"
FROM
  (
    SELECT
  ) one_row
  LEFT JOIN stopped ON true
  LEFT JOIN (
    SELECT
      p.id,
      p.title,
      p.content,
      p.images,
      p.created_at AS "createdAt",
      p.updated_at AS "updatedAt",
      json_build_object(
        'id',
        s.id,
        'name',
        s.name,
        'store_categories',
        coalesce(
          (
            SELECT
              json_agg(
                json_build_object('id', c.id, 'name', c.name)
                ORDER BY
                  l.position
              )
            FROM
              store_category_links l
              JOIN store_categories c ON c.id = l.category_id
            WHERE
              l.store_id = s.id
          ),
          '[]'
        )
      ) AS store,
      to_char(p.closes_on, 'YYYY-MM-DD') AS closes_on,
      (
        p.closed_at IS NULL
        AND (
          p.closes_on IS NULL
          OR p.closes_on >= (now() AT TIME ZONE 'Asia/Seoul')::date
        )
      ) AS "isOpen",
      s.owner_id = $15 AS is_mine,
      (
        SELECT
          r.status
        FROM
          partner_requests r
        WHERE
          r.sender_store_id = (
            SELECT
              id
            FROM
              stores
            WHERE
              owner_id = $16
          )
          AND r.post_id = p.id
        ORDER BY
          r.id DESC
        LIMIT
          1
      ) AS my_request_status,
      page.distance
    FROM
      page
      JOIN posts p ON p.id = page.id
      JOIN stores s ON s.id = p.store_id
  ) found ON true
ORDER BY
  found."createdAt" DESC,
  found.id DESC;

-- Returns: id bigint, title character varying, content character varying, images text[], createdAt timestamp with time zone, updatedAt timestamp with time zone, store json, closes_on text, isOpen boolean, is_mine boolean, my_request_status partner_request_status, distance bigint, stoppedTime bigint, stoppedId bigint, isUsable boolean
-- Pages: at most 4096
/* posts.search */
WITH
  walked AS (
    SELECT
      id,
      created_at,
      is_last,
      NOT is_last
      OR matches AS matches
    FROM
      (
        SELECT
          item.id,
          item.created_at,
          place = 500
          OR text_read >= 1000000 AS is_last,
          CASE
            WHEN text_read - text_bytes < 1000000 THEN (
              $1::bool
              OR NOT (
                item.closed_at IS NULL
                AND (
                  item.closes_on IS NULL
                  OR item.closes_on >= (now() AT TIME ZONE 'Asia/Seoul')::date
                )
              )
            )
            AND item.store_id = (
              SELECT
                s.id
              FROM
                stores s
              WHERE
                s.id = (
                  SELECT
                    id
                  FROM
                    stores
                  WHERE
                    id = coalesce(
                      $2::int,
                      (
                        SELECT
                          id
                        FROM
                          stores
                        WHERE
                          owner_id = $3::int
                      )
                    )
                    AND (
                      $4::int IS NULL
                      OR owner_id = $5::int
                    )
                )
                AND s.closed_at IS NULL
                AND s.suspended_at IS NULL
                AND (
                  $6::text = ''
                  OR s.region_keys @> (
                    SELECT
                      region_words ($7::text)
                  )
                )
                AND (
                  $8::int IS NULL
                  OR (
                    SELECT
                      true
                    FROM
                      store_category_links
                    WHERE
                      store_id = s.id
                      AND category_id = $9::int
                  ) IS NOT NULL
                )
            )
            AND item.region_keys IS NOT NULL
            AND (
              $10::text = ''
              OR item.region_keys @> (
                SELECT
                  region_words ($11::text)
              )
            )
            AND (
              $12::text = ''
              OR position(
                (
                  SELECT
                    search_key ($13::text)
                ) IN item.search_text
              ) > 0
              OR position(
                (
                  SELECT
                    search_key ($14::text)
                ) IN split_part(item.store_text, E'\n', 1)
              ) > 0
              OR position(
                (
                  SELECT
                    search_key ($15::text)
                ) IN split_part(item.store_text, E'\n', 2)
              ) > 0
            )
          END AS matches
        FROM
          (
            SELECT
              item.*,
              row_number() OVER running AS place,
              sum(text_bytes) OVER running AS text_read
            FROM
              (
                SELECT
                  item.*,
                  CASE
                    WHEN $16::text = '' THEN 0
                    ELSE octet_length(item.search_text) + 500 + coalesce(octet_length(item.store_text), 0)
                  END AS text_bytes
                FROM
                  (
                    SELECT
                      item.*,
                      s.*
                    FROM
                      (
                        SELECT
                          item.*
                        FROM
                          posts item
                        WHERE
                          item.is_visible
                          AND true
                          AND (item.created_at, item.id) < ($17::timestamptz, $18::bigint)
                          AND item.store_id = (
                            SELECT
                              s.id
                            FROM
                              stores s
                            WHERE
                              s.id = (
                                SELECT
                                  id
                                FROM
                                  stores
                                WHERE
                                  id = coalesce(
                                    $19::int,
                                    (
                                      SELECT
                                        id
                                      FROM
                                        stores
                                      WHERE
                                        owner_id = $20::int
                                    )
                                  )
                                  AND (
                                    $21::int IS NULL
                                    OR owner_id = $22::int
                                  )
                              )
                              AND s.closed_at IS NULL
                              AND s.suspended_at IS NULL
                              AND (
                                $23::text = ''
                                OR s.region_keys @> (
                                  SELECT
                                    region_words ($24::text)
                                )
                              )
                              AND (
                                $25::int IS NULL
                                OR (
                                  SELECT
                                    true
                                  FROM
                                    store_category_links
                                  WHERE
                                    store_id = s.id
                                    AND category_id = $26::int
                                ) IS NOT NULL
                              )
                          )
                        ORDER BY
                          created_at DESC,
                          id DESC
                        LIMIT
                          500
                      ) item
                      LEFT JOIN LATERAL (
                        SELECT
                          s.search_text AS store_text,
                          s.region_keys
                        FROM
                          stores s
                        WHERE
                          s.id = item.store_id
                          AND s.closed_at IS NULL
                          AND s.suspended_at IS NULL
                          AND (
                            $27::int IS NULL
                            OR (
                              SELECT
                                true
                              FROM
                                store_category_links
                              WHERE
                                store_id = item.store_id
                                AND category_id = $28::int
                            ) IS NOT NULL
                          )
                        OFFSET
                          0
                      ) s ON true
                  ) item
              ) item
            WINDOW
              running AS (
                ORDER BY
                  created_at DESC,
                  id DESC ROWS UNBOUNDED PRECEDING
              )
          ) item
      ) item
    WHERE
      matches
      OR is_last
    ORDER BY
      created_at DESC,
      id DESC
    LIMIT
      $29
  ),
  page AS (
    SELECT
      id,
      NULL::bigint AS distance
    FROM
      walked
    WHERE
      matches
  ),
  stopped AS (
    SELECT
      (
        extract(
          epoch
          FROM
            created_at
        ) * 1000
      )::bigint AS "stoppedTime",
      id AS "stoppedId"
    FROM
      walked
    WHERE
      is_last
      AND (
        SELECT
          count(*)
        FROM
          page
      ) < $30
    ORDER BY
      created_at DESC,
      id DESC
    LIMIT
      1
  )
SELECT
  found.*,
  stopped.*,
  true AS "isUsable"
FROM
  (
    SELECT
  ) one_row
  LEFT JOIN stopped ON true
  LEFT JOIN (
    SELECT
      p.id,
      p.title,
      p.content,
      p.images,
      p.created_at AS "createdAt",
      p.updated_at AS "updatedAt",
      json_build_object(
        'id',
        s.id,
        'name',
        s.name,
        'store_categories',
        coalesce(
          (
            SELECT
              json_agg(
                json_build_object('id', c.id, 'name', c.name)
                ORDER BY
                  l.position
              )
            FROM
              store_category_links l
              JOIN store_categories c ON c.id = l.category_id
            WHERE
              l.store_id = s.id
          ),
          '[]'
        )
      ) AS store,
      to_char(p.closes_on, 'YYYY-MM-DD') AS closes_on,
      (
        p.closed_at IS NULL
        AND (
          p.closes_on IS NULL
          OR p.closes_on >= (now() AT TIME ZONE 'Asia/Seoul')::date
        )
      ) AS "isOpen",
      s.owner_id = $31 AS is_mine,
      (
        SELECT
          r.status
        FROM
          partner_requests r
        WHERE
          r.sender_store_id = (
            SELECT
              id
            FROM
              stores
            WHERE
              owner_id = $32
          )
          AND r.post_id = p.id
        ORDER BY
          r.id DESC
        LIMIT
          1
      ) AS my_request_status,
      page.distance
    FROM
      page
      JOIN posts p ON p.id = page.id
      JOIN stores s ON s.id = p.store_id
  ) found ON true
ORDER BY
  found."createdAt" DESC,
  found.id DESC;

-- Returns: id bigint, title character varying, content character varying, images text[], createdAt timestamp with time zone, updatedAt timestamp with time zone, store json, closes_on text, isOpen boolean, is_mine boolean, my_request_status partner_request_status, distance bigint, stoppedTime bigint, stoppedId bigint, isUsable boolean
-- Pages: at most 4096
/* posts.search */
WITH
  walked AS (
    SELECT
      id,
      created_at,
      is_last,
      NOT is_last
      OR matches AS matches
    FROM
      (
        SELECT
          item.id,
          item.created_at,
          place = 500
          OR text_read >= 1000000 AS is_last,
          CASE
            WHEN text_read - text_bytes < 1000000 THEN (
              item.closed_at IS NULL
              AND (
                item.closes_on IS NULL
                OR item.closes_on >= (now() AT TIME ZONE 'Asia/Seoul')::date
              )
            )
            AND item.region_keys IS NOT NULL
            AND (
              $1::text = ''
              OR item.region_keys @> (
                SELECT
                  region_words ($2::text)
              )
            )
            AND (
              $3::text = ''
              OR position(
                (
                  SELECT
                    search_key ($4::text)
                ) IN item.search_text
              ) > 0
              OR position(
                (
                  SELECT
                    search_key ($5::text)
                ) IN split_part(item.store_text, E'\n', 1)
              ) > 0
              OR position(
                (
                  SELECT
                    search_key ($6::text)
                ) IN split_part(item.store_text, E'\n', 2)
              ) > 0
            )
          END AS matches
        FROM
          (
            SELECT
              item.*,
              row_number() OVER running AS place,
              sum(text_bytes) OVER running AS text_read
            FROM
              (
                SELECT
                  item.*,
                  CASE
                    WHEN $7::text = '' THEN 0
                    ELSE octet_length(item.search_text) + 500 + coalesce(octet_length(item.store_text), 0)
                  END AS text_bytes
                FROM
                  (
                    SELECT
                      item.*,
                      s.*
                    FROM
                      (
                        SELECT
                          item.*
                        FROM
                          posts item
                        WHERE
                          item.is_visible
                          AND item.closed_at IS NULL
                          AND (item.created_at, item.id) < ($8::timestamptz, $9::bigint)
                        ORDER BY
                          created_at DESC,
                          id DESC
                        LIMIT
                          500
                      ) item
                      LEFT JOIN LATERAL (
                        SELECT
                          s.search_text AS store_text,
                          s.region_keys
                        FROM
                          stores s
                        WHERE
                          s.id = item.store_id
                          AND s.closed_at IS NULL
                          AND s.suspended_at IS NULL
                          AND (
                            $10::int IS NULL
                            OR (
                              SELECT
                                true
                              FROM
                                store_category_links
                              WHERE
                                store_id = item.store_id
                                AND category_id = $11::int
                            ) IS NOT NULL
                          )
                        OFFSET
                          0
                      ) s ON true
                  ) item
              ) item
            WINDOW
              running AS (
                ORDER BY
                  created_at DESC,
                  id DESC ROWS UNBOUNDED PRECEDING
              )
          ) item
      ) item
    WHERE
      matches
      OR is_last
    ORDER BY
      created_at DESC,
      id DESC
    LIMIT
      $12
  ),
  page AS (
    SELECT
      id,
      NULL::bigint AS distance
    FROM
      walked
    WHERE
      matches
  ),
  stopped AS (
    SELECT
      (
        extract(
          epoch
          FROM
            created_at
        ) * 1000
      )::bigint AS "stoppedTime",
      id AS "stoppedId"
    FROM
      walked
    WHERE
      is_last
      AND (
        SELECT
          count(*)
        FROM
          page
      ) < $13
    ORDER BY
      created_at DESC,
      id DESC
    LIMIT
      1
  )
SELECT
  found.*,
  stopped.*,
  true AS "isUsable"
FROM
  (
    SELECT
  ) one_row
  LEFT JOIN stopped ON true
  LEFT JOIN (
    SELECT
      p.id,
      p.title,
      p.content,
      p.images,
      p.created_at AS "createdAt",
      p.updated_at AS "updatedAt",
      json_build_object(
        'id',
        s.id,
        'name',
        s.name,
        'store_categories',
        coalesce(
          (
            SELECT
              json_agg(
                json_build_object('id', c.id, 'name', c.name)
                ORDER BY
                  l.position
              )
            FROM
              store_category_links l
              JOIN store_categories c ON c.id = l.category_id
            WHERE
              l.store_id = s.id
          ),
          '[]'
        )
      ) AS store,
      to_char(p.closes_on, 'YYYY-MM-DD') AS closes_on,
      (
        p.closed_at IS NULL
        AND (
          p.closes_on IS NULL
          OR p.closes_on >= (now() AT TIME ZONE 'Asia/Seoul')::date
        )
      ) AS "isOpen",
      s.owner_id = $14 AS is_mine,
      (
        SELECT
          r.status
        FROM
          partner_requests r
        WHERE
          r.sender_store_id = (
            SELECT
              id
            FROM
              stores
            WHERE
              owner_id = $15
          )
          AND r.post_id = p.id
        ORDER BY
          r.id DESC
        LIMIT
          1
      ) AS my_request_status,
      page.distance
    FROM
      page
      JOIN posts p ON p.id = page.id
      JOIN stores s ON s.id = p.store_id
  ) found ON true
ORDER BY
  found."createdAt" DESC,
  found.id DESC;

-- Returns: id bigint, title character varying, content character varying, images text[], createdAt timestamp with time zone, updatedAt timestamp with time zone, store json, closes_on text, isOpen boolean, is_mine boolean, my_request_status partner_request_status, distance bigint, stoppedTime bigint, stoppedId bigint, isUsable boolean
-- Pages: at most 8192
/* posts.search */
WITH
  walked AS (
    SELECT
      id,
      created_at,
      is_last,
      NOT is_last
      OR matches AS matches
    FROM
      (
        SELECT
          item.id,
          item.created_at,
          place = 5000
          OR text_read >= 2000000 AS is_last,
          CASE
            WHEN text_read - text_bytes < 2000000 THEN (
              $1::bool
              OR NOT (
                item.closed_at IS NULL
                AND (
                  item.closes_on IS NULL
                  OR item.closes_on >= (now() AT TIME ZONE 'Asia/Seoul')::date
                )
              )
            )
            AND item.region_keys IS NOT NULL
            AND (
              $2::text = ''
              OR item.region_keys @> (
                SELECT
                  region_words ($3::text)
              )
            )
            AND (
              $4::text = ''
              OR position(
                (
                  SELECT
                    search_key ($5::text)
                ) IN item.search_text
              ) > 0
              OR position(
                (
                  SELECT
                    search_key ($6::text)
                ) IN split_part(item.store_text, E'\n', 1)
              ) > 0
              OR position(
                (
                  SELECT
                    search_key ($7::text)
                ) IN split_part(item.store_text, E'\n', 2)
              ) > 0
            )
          END AS matches
        FROM
          (
            SELECT
              item.*,
              row_number() OVER running AS place,
              sum(text_bytes) OVER running AS text_read
            FROM
              (
                SELECT
                  item.*,
                  CASE
                    WHEN $8::text = '' THEN 0
                    ELSE octet_length(item.search_text) + 500 + coalesce(octet_length(item.store_text), 0)
                  END AS text_bytes
                FROM
                  (
                    SELECT
                      item.*,
                      s.*
                    FROM
                      (
                        SELECT
                          item.*
                        FROM
                          posts item
                        WHERE
                          item.is_visible
                          AND true
                          AND (item.created_at, item.id) < ($9::timestamptz, $10::bigint)
                        ORDER BY
                          created_at DESC,
                          id DESC
                        LIMIT
                          5000
                      ) item
                      LEFT JOIN LATERAL (
                        SELECT
                          s.search_text AS store_text,
                          s.region_keys
                        FROM
                          stores s
                        WHERE
                          s.id = item.store_id
                          AND s.closed_at IS NULL
                          AND s.suspended_at IS NULL
                          AND (
                            $11::int IS NULL
                            OR (
                              SELECT
                                true
                              FROM
                                store_category_links
                              WHERE
                                store_id = item.store_id
                                AND category_id = $12::int
                            ) IS NOT NULL
                          )
                        OFFSET
                          0
                      ) s ON true
                  ) item
              ) item
            WINDOW
              running AS (
                ORDER BY
                  created_at DESC,
                  id DESC ROWS UNBOUNDED PRECEDING
              )
          ) item
      ) item
    WHERE
      matches
      OR is_last
    ORDER BY
      created_at DESC,
      id DESC
    LIMIT
      $13
  ),
  page AS (
    SELECT
      id,
      NULL::bigint AS distance
    FROM
      walked
    WHERE
      matches
  ),
  stopped AS (
    SELECT
      (
        extract(
          epoch
          FROM
            created_at
        ) * 1000
      )::bigint AS "stoppedTime",
      id AS "stoppedId"
    FROM
      walked
    WHERE
      is_last
      AND (
        SELECT
          count(*)
        FROM
          page
      ) < $14
    ORDER BY
      created_at DESC,
      id DESC
    LIMIT
      1
  )
SELECT
  found.*,
  stopped.*,
  true AS "isUsable"
FROM
  (
    SELECT
  ) one_row
  LEFT JOIN stopped ON true
  LEFT JOIN (
    SELECT
      p.id,
      p.title,
      p.content,
      p.images,
      p.created_at AS "createdAt",
      p.updated_at AS "updatedAt",
      json_build_object(
        'id',
        s.id,
        'name',
        s.name,
        'store_categories',
        coalesce(
          (
            SELECT
              json_agg(
                json_build_object('id', c.id, 'name', c.name)
                ORDER BY
                  l.position
              )
            FROM
              store_category_links l
              JOIN store_categories c ON c.id = l.category_id
            WHERE
              l.store_id = s.id
          ),
          '[]'
        )
      ) AS store,
      to_char(p.closes_on, 'YYYY-MM-DD') AS closes_on,
      (
        p.closed_at IS NULL
        AND (
          p.closes_on IS NULL
          OR p.closes_on >= (now() AT TIME ZONE 'Asia/Seoul')::date
        )
      ) AS "isOpen",
      s.owner_id = $15 AS is_mine,
      (
        SELECT
          r.status
        FROM
          partner_requests r
        WHERE
          r.sender_store_id = (
            SELECT
              id
            FROM
              stores
            WHERE
              owner_id = $16
          )
          AND r.post_id = p.id
        ORDER BY
          r.id DESC
        LIMIT
          1
      ) AS my_request_status,
      page.distance
    FROM
      page
      JOIN posts p ON p.id = page.id
      JOIN stores s ON s.id = p.store_id
  ) found ON true
ORDER BY
  found."createdAt" DESC,
  found.id DESC;

-- Returns: id bigint, title character varying, content character varying, images text[], createdAt timestamp with time zone, updatedAt timestamp with time zone, store json, closes_on text, isOpen boolean, is_mine boolean, my_request_status partner_request_status, distance bigint, stoppedTime bigint, stoppedId bigint, isUsable boolean
-- Pages: at most 32768
/* posts.search */
WITH
  walked AS (
    SELECT
      id,
      created_at,
      is_last,
      NOT is_last
      OR matches AS matches
    FROM
      (
        SELECT
          item.id,
          item.created_at,
          place = 5000
          OR text_read >= 2000000 AS is_last,
          CASE
            WHEN text_read - text_bytes < 2000000 THEN (
              $1::bool
              OR NOT (
                item.closed_at IS NULL
                AND (
                  item.closes_on IS NULL
                  OR item.closes_on >= (now() AT TIME ZONE 'Asia/Seoul')::date
                )
              )
            )
            AND item.store_id = (
              SELECT
                s.id
              FROM
                stores s
              WHERE
                s.id = (
                  SELECT
                    id
                  FROM
                    stores
                  WHERE
                    id = coalesce(
                      $2::int,
                      (
                        SELECT
                          id
                        FROM
                          stores
                        WHERE
                          owner_id = $3::int
                      )
                    )
                    AND (
                      $4::int IS NULL
                      OR owner_id = $5::int
                    )
                )
                AND s.closed_at IS NULL
                AND s.suspended_at IS NULL
                AND (
                  $6::text = ''
                  OR s.region_keys @> (
                    SELECT
                      region_words ($7::text)
                  )
                )
                AND (
                  $8::int IS NULL
                  OR (
                    SELECT
                      true
                    FROM
                      store_category_links
                    WHERE
                      store_id = s.id
                      AND category_id = $9::int
                  ) IS NOT NULL
                )
            )
            AND item.region_keys IS NOT NULL
            AND (
              $10::text = ''
              OR item.region_keys @> (
                SELECT
                  region_words ($11::text)
              )
            )
            AND (
              $12::text = ''
              OR position(
                (
                  SELECT
                    search_key ($13::text)
                ) IN item.search_text
              ) > 0
              OR position(
                (
                  SELECT
                    search_key ($14::text)
                ) IN split_part(item.store_text, E'\n', 1)
              ) > 0
              OR position(
                (
                  SELECT
                    search_key ($15::text)
                ) IN split_part(item.store_text, E'\n', 2)
              ) > 0
            )
          END AS matches
        FROM
          (
            SELECT
              item.*,
              row_number() OVER running AS place,
              sum(text_bytes) OVER running AS text_read
            FROM
              (
                SELECT
                  item.*,
                  CASE
                    WHEN $16::text = '' THEN 0
                    ELSE octet_length(item.search_text) + 500 + coalesce(octet_length(item.store_text), 0)
                  END AS text_bytes
                FROM
                  (
                    SELECT
                      item.*,
                      s.*
                    FROM
                      (
                        SELECT
                          item.*
                        FROM
                          posts item
                        WHERE
                          item.is_visible
                          AND true
                          AND (item.created_at, item.id) < ($17::timestamptz, $18::bigint)
                          AND item.store_id = (
                            SELECT
                              s.id
                            FROM
                              stores s
                            WHERE
                              s.id = (
                                SELECT
                                  id
                                FROM
                                  stores
                                WHERE
                                  id = coalesce(
                                    $19::int,
                                    (
                                      SELECT
                                        id
                                      FROM
                                        stores
                                      WHERE
                                        owner_id = $20::int
                                    )
                                  )
                                  AND (
                                    $21::int IS NULL
                                    OR owner_id = $22::int
                                  )
                              )
                              AND s.closed_at IS NULL
                              AND s.suspended_at IS NULL
                              AND (
                                $23::text = ''
                                OR s.region_keys @> (
                                  SELECT
                                    region_words ($24::text)
                                )
                              )
                              AND (
                                $25::int IS NULL
                                OR (
                                  SELECT
                                    true
                                  FROM
                                    store_category_links
                                  WHERE
                                    store_id = s.id
                                    AND category_id = $26::int
                                ) IS NOT NULL
                              )
                          )
                        ORDER BY
                          created_at DESC,
                          id DESC
                        LIMIT
                          5000
                      ) item
                      LEFT JOIN LATERAL (
                        SELECT
                          s.search_text AS store_text,
                          s.region_keys
                        FROM
                          stores s
                        WHERE
                          s.id = item.store_id
                          AND s.closed_at IS NULL
                          AND s.suspended_at IS NULL
                          AND (
                            $27::int IS NULL
                            OR (
                              SELECT
                                true
                              FROM
                                store_category_links
                              WHERE
                                store_id = item.store_id
                                AND category_id = $28::int
                            ) IS NOT NULL
                          )
                        OFFSET
                          0
                      ) s ON true
                  ) item
              ) item
            WINDOW
              running AS (
                ORDER BY
                  created_at DESC,
                  id DESC ROWS UNBOUNDED PRECEDING
              )
          ) item
      ) item
    WHERE
      matches
      OR is_last
    ORDER BY
      created_at DESC,
      id DESC
    LIMIT
      $29
  ),
  page AS (
    SELECT
      id,
      NULL::bigint AS distance
    FROM
      walked
    WHERE
      matches
  ),
  stopped AS (
    SELECT
      (
        extract(
          epoch
          FROM
            created_at
        ) * 1000
      )::bigint AS "stoppedTime",
      id AS "stoppedId"
    FROM
      walked
    WHERE
      is_last
      AND (
        SELECT
          count(*)
        FROM
          page
      ) < $30
    ORDER BY
      created_at DESC,
      id DESC
    LIMIT
      1
  )
SELECT
  found.*,
  stopped.*,
  true AS "isUsable"
FROM
  (
    SELECT
  ) one_row
  LEFT JOIN stopped ON true
  LEFT JOIN (
    SELECT
      p.id,
      p.title,
      p.content,
      p.images,
      p.created_at AS "createdAt",
      p.updated_at AS "updatedAt",
      json_build_object(
        'id',
        s.id,
        'name',
        s.name,
        'store_categories',
        coalesce(
          (
            SELECT
              json_agg(
                json_build_object('id', c.id, 'name', c.name)
                ORDER BY
                  l.position
              )
            FROM
              store_category_links l
              JOIN store_categories c ON c.id = l.category_id
            WHERE
              l.store_id = s.id
          ),
          '[]'
        )
      ) AS store,
      to_char(p.closes_on, 'YYYY-MM-DD') AS closes_on,
      (
        p.closed_at IS NULL
        AND (
          p.closes_on IS NULL
          OR p.closes_on >= (now() AT TIME ZONE 'Asia/Seoul')::date
        )
      ) AS "isOpen",
      s.owner_id = $31 AS is_mine,
      (
        SELECT
          r.status
        FROM
          partner_requests r
        WHERE
          r.sender_store_id = (
            SELECT
              id
            FROM
              stores
            WHERE
              owner_id = $32
          )
          AND r.post_id = p.id
        ORDER BY
          r.id DESC
        LIMIT
          1
      ) AS my_request_status,
      page.distance
    FROM
      page
      JOIN posts p ON p.id = page.id
      JOIN stores s ON s.id = p.store_id
  ) found ON true
ORDER BY
  found."createdAt" DESC,
  found.id DESC;

-- Returns: id bigint, title character varying, content character varying, images text[], createdAt timestamp with time zone, updatedAt timestamp with time zone, store json, closes_on text, isOpen boolean, is_mine boolean, my_request_status partner_request_status, distance bigint, stoppedTime bigint, stoppedId bigint, isUsable boolean
-- Pages: at most 8192
/* posts.search */
WITH
  walked AS (
    SELECT
      id,
      created_at,
      is_last,
      NOT is_last
      OR matches AS matches
    FROM
      (
        SELECT
          item.id,
          item.created_at,
          place = 5000
          OR text_read >= 2000000 AS is_last,
          CASE
            WHEN text_read - text_bytes < 2000000 THEN (
              item.closed_at IS NULL
              AND (
                item.closes_on IS NULL
                OR item.closes_on >= (now() AT TIME ZONE 'Asia/Seoul')::date
              )
            )
            AND item.region_keys IS NOT NULL
            AND (
              $1::text = ''
              OR item.region_keys @> (
                SELECT
                  region_words ($2::text)
              )
            )
            AND (
              $3::text = ''
              OR position(
                (
                  SELECT
                    search_key ($4::text)
                ) IN item.search_text
              ) > 0
              OR position(
                (
                  SELECT
                    search_key ($5::text)
                ) IN split_part(item.store_text, E'\n', 1)
              ) > 0
              OR position(
                (
                  SELECT
                    search_key ($6::text)
                ) IN split_part(item.store_text, E'\n', 2)
              ) > 0
            )
          END AS matches
        FROM
          (
            SELECT
              item.*,
              row_number() OVER running AS place,
              sum(text_bytes) OVER running AS text_read
            FROM
              (
                SELECT
                  item.*,
                  CASE
                    WHEN $7::text = '' THEN 0
                    ELSE octet_length(item.search_text) + 500 + coalesce(octet_length(item.store_text), 0)
                  END AS text_bytes
                FROM
                  (
                    SELECT
                      item.*,
                      s.*
                    FROM
                      (
                        SELECT
                          item.*
                        FROM
                          posts item
                        WHERE
                          item.is_visible
                          AND item.closed_at IS NULL
                          AND (item.created_at, item.id) < ($8::timestamptz, $9::bigint)
                        ORDER BY
                          created_at DESC,
                          id DESC
                        LIMIT
                          5000
                      ) item
                      LEFT JOIN LATERAL (
                        SELECT
                          s.search_text AS store_text,
                          s.region_keys
                        FROM
                          stores s
                        WHERE
                          s.id = item.store_id
                          AND s.closed_at IS NULL
                          AND s.suspended_at IS NULL
                          AND (
                            $10::int IS NULL
                            OR (
                              SELECT
                                true
                              FROM
                                store_category_links
                              WHERE
                                store_id = item.store_id
                                AND category_id = $11::int
                            ) IS NOT NULL
                          )
                        OFFSET
                          0
                      ) s ON true
                  ) item
              ) item
            WINDOW
              running AS (
                ORDER BY
                  created_at DESC,
                  id DESC ROWS UNBOUNDED PRECEDING
              )
          ) item
      ) item
    WHERE
      matches
      OR is_last
    ORDER BY
      created_at DESC,
      id DESC
    LIMIT
      $12
  ),
  page AS (
    SELECT
      id,
      NULL::bigint AS distance
    FROM
      walked
    WHERE
      matches
  ),
  stopped AS (
    SELECT
      (
        extract(
          epoch
          FROM
            created_at
        ) * 1000
      )::bigint AS "stoppedTime",
      id AS "stoppedId"
    FROM
      walked
    WHERE
      is_last
      AND (
        SELECT
          count(*)
        FROM
          page
      ) < $13
    ORDER BY
      created_at DESC,
      id DESC
    LIMIT
      1
  )
SELECT
  found.*,
  stopped.*,
  true AS "isUsable"
FROM
  (
    SELECT
  ) one_row
  LEFT JOIN stopped ON true
  LEFT JOIN (
    SELECT
      p.id,
      p.title,
      p.content,
      p.images,
      p.created_at AS "createdAt",
      p.updated_at AS "updatedAt",
      json_build_object(
        'id',
        s.id,
        'name',
        s.name,
        'store_categories',
        coalesce(
          (
            SELECT
              json_agg(
                json_build_object('id', c.id, 'name', c.name)
                ORDER BY
                  l.position
              )
            FROM
              store_category_links l
              JOIN store_categories c ON c.id = l.category_id
            WHERE
              l.store_id = s.id
          ),
          '[]'
        )
      ) AS store,
      to_char(p.closes_on, 'YYYY-MM-DD') AS closes_on,
      (
        p.closed_at IS NULL
        AND (
          p.closes_on IS NULL
          OR p.closes_on >= (now() AT TIME ZONE 'Asia/Seoul')::date
        )
      ) AS "isOpen",
      s.owner_id = $14 AS is_mine,
      (
        SELECT
          r.status
        FROM
          partner_requests r
        WHERE
          r.sender_store_id = (
            SELECT
              id
            FROM
              stores
            WHERE
              owner_id = $15
          )
          AND r.post_id = p.id
        ORDER BY
          r.id DESC
        LIMIT
          1
      ) AS my_request_status,
      page.distance
    FROM
      page
      JOIN posts p ON p.id = page.id
      JOIN stores s ON s.id = p.store_id
  ) found ON true
ORDER BY
  found."createdAt" DESC,
  found.id DESC;
