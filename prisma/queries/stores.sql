-- Returns: id integer
-- Pages: at most 128
-- Changes no index: daily_counts
/* stores.change */
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
  )
UPDATE stores s
SET
  (
    name,
    description,
    address,
    sido,
    sigungu,
    dong,
    region_keys,
    phone_number,
    business_hours,
    latitude,
    longitude,
    show_exact_location
  ) = (
    SELECT
      name,
      description,
      address,
      sido,
      sigungu,
      dong,
      region_keys,
      phone_number,
      business_hours,
      latitude,
      longitude,
      show_exact_location
    FROM
      jsonb_populate_record(s, $3::jsonb)
  ),
  updated_at = clock_timestamp()
FROM
  edited
WHERE
  s.id = edited.id
  AND s.owner_id = $4
  AND s.closed_at IS NULL
  AND s.suspended_at IS NULL
  AND s.updated_at = coalesce($5::timestamptz, s.updated_at)
RETURNING
  s.id;

-- Returns: id integer
-- Pages: at most 512
/* stores.create */
INSERT INTO
  stores (
    owner_id,
    name,
    description,
    address,
    sido,
    sigungu,
    dong,
    region_keys,
    phone_number,
    business_hours,
    latitude,
    longitude,
    show_exact_location
  )
SELECT
  owner.id,
  given.*
FROM
  (
    SELECT
      name,
      description,
      address,
      sido,
      sigungu,
      dong,
      region_keys,
      phone_number,
      business_hours,
      latitude,
      longitude,
      show_exact_location
    FROM
      jsonb_populate_record(NULL::stores, $1::jsonb)
  ) given,
  (
    SELECT
      id
    FROM
      users u
    WHERE
      id = $2
      AND suspended_at IS NULL
      AND NOT EXISTS (
        SELECT
        FROM
          stores
        WHERE
          owner_id = u.id
      )
    FOR SHARE
  ) owner
ON CONFLICT (owner_id) DO NOTHING
RETURNING
  id;

-- Returns: id integer, name character varying, store_categories json, description character varying, address character varying, phone_number character varying, business_hours character varying, region json, location json, show_exact_location boolean, created_at timestamp with time zone, updated_at timestamp with time zone
-- Pages: at most 64
/* stores.findOpen */
SELECT
  s.id,
  s.name,
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
  ) AS store_categories,
  s.description,
  s.address,
  s.phone_number,
  s.business_hours,
  json_build_object('sido', coalesce(s.sido, ''), 'sigungu', s.sigungu, 'dong', s.dong) AS region,
  CASE
    WHEN place IS NOT NULL THEN json_build_object('latitude', place[1], 'longitude', place[0])
  END AS location,
  s.show_exact_location,
  s.created_at,
  s.updated_at
FROM
  stores s,
  store_place (
    s.latitude,
    s.longitude,
    s.show_exact_location
    OR s.owner_id = $1
  ) place
WHERE
  s.id = $2
  AND s.closed_at IS NULL
  AND s.suspended_at IS NULL;

-- Returns: id integer, name character varying, store_categories json, description character varying, address character varying, phone_number character varying, business_hours character varying, region json, location json, show_exact_location boolean, created_at timestamp with time zone, updated_at timestamp with time zone
-- Pages: at most 64
/* stores.findOpen */
SELECT
  s.id,
  s.name,
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
  ) AS store_categories,
  s.description,
  s.address,
  s.phone_number,
  s.business_hours,
  json_build_object('sido', coalesce(s.sido, ''), 'sigungu', s.sigungu, 'dong', s.dong) AS region,
  CASE
    WHEN place IS NOT NULL THEN json_build_object('latitude', place[1], 'longitude', place[0])
  END AS location,
  s.show_exact_location,
  s.created_at,
  s.updated_at
FROM
  stores s,
  store_place (
    s.latitude,
    s.longitude,
    s.show_exact_location
    OR s.owner_id = $1
  ) place
WHERE
  s.owner_id = $2
  AND s.closed_at IS NULL
  AND s.suspended_at IS NULL;

-- Returns: id integer, name character varying, store_categories json, address character varying, description character varying, firstImage text, createdAt timestamp with time zone, distance bigint, stoppedTime bigint, stoppedId integer, isUsable boolean
-- Pages: at most 8192
/* stores.search */
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
            WHEN text_read - text_bytes < 1000000 THEN true
            AND (
              $6::int IS NULL
              OR (
                SELECT
                  true
                FROM
                  store_category_links
                WHERE
                  store_id = item.id
                  AND category_id = $7::int
              ) IS NOT NULL
            )
            AND (
              $8::text = ''
              OR item.region_keys @> (
                SELECT
                  region_words ($9::text)
              )
            )
            AND (
              $10::text = ''
              OR position(
                (
                  SELECT
                    search_key ($11::text)
                ) IN item.search_text
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
                    ELSE octet_length(item.search_text)
                  END AS text_bytes
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
                        WHERE
                          (distance, - id) > ($21::bigint, $22::bigint)
                        ORDER BY
                          distance,
                          id DESC
                        LIMIT
                          750
                      ) nearest
                      JOIN LATERAL (
                        SELECT
                          *
                        FROM
                          stores
                        WHERE
                          id = nearest.id
                        LIMIT
                          1
                      ) item USING (id)
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
      $23
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
      ) < $24
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
      s.id,
      s.name,
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
      ) AS store_categories,
      s.address,
      s.description,
      (
        SELECT
          p.images[1]
        FROM
          posts p
        WHERE
          p.store_id = s.id
          AND p.is_visible
        ORDER BY
          created_at DESC,
          id DESC
        LIMIT
          1
      ) AS "firstImage",
      s.created_at AS "createdAt",
      page.distance
    FROM
      page
      JOIN stores s USING (id)
  ) found ON true
ORDER BY
  found.distance,
  found.id DESC;

-- Returns: id integer, name character varying, store_categories json, address character varying, description character varying, firstImage text, createdAt timestamp with time zone, distance bigint, stoppedTime bigint, stoppedId integer, isUsable boolean
-- Pages: at most 128
/* stores.search */
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
          item.id AS store_id
        FROM
          stores item
        WHERE
          item.id = link.store_id
          AND item.closed_at IS NULL
          AND item.suspended_at IS NULL
          AND true
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
            WHEN text_read - text_bytes < 2000000 THEN true
            AND (
              $4::int IS NULL
              OR (
                SELECT
                  true
                FROM
                  store_category_links
                WHERE
                  store_id = item.id
                  AND category_id = $5::int
              ) IS NOT NULL
            )
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
                    ELSE octet_length(item.search_text)
                  END AS text_bytes
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
                          stores
                        WHERE
                          id = candidate.id
                        LIMIT
                          1
                      ) item USING (id, created_at)
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
      $11
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
      ) < $12
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
      s.id,
      s.name,
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
      ) AS store_categories,
      s.address,
      s.description,
      (
        SELECT
          p.images[1]
        FROM
          posts p
        WHERE
          p.store_id = s.id
          AND p.is_visible
        ORDER BY
          created_at DESC,
          id DESC
        LIMIT
          1
      ) AS "firstImage",
      s.created_at AS "createdAt",
      page.distance
    FROM
      page
      JOIN stores s USING (id)
  ) found ON true
ORDER BY
  found."createdAt" DESC,
  found.id DESC;

-- Returns: id integer, name character varying, store_categories json, address character varying, description character varying, firstImage text, createdAt timestamp with time zone, distance bigint, stoppedTime bigint, stoppedId integer, isUsable boolean
-- Pages: at most 128
/* stores.search */
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
          item.id AS store_id
        FROM
          stores item
        WHERE
          item.id = link.store_id
          AND item.closed_at IS NULL
          AND item.suspended_at IS NULL
          AND true
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
            WHEN text_read - text_bytes < 2000000 THEN true
            AND (
              $2::int IS NULL
              OR (
                SELECT
                  true
                FROM
                  store_category_links
                WHERE
                  store_id = item.id
                  AND category_id = $3::int
              ) IS NOT NULL
            )
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
                    ELSE octet_length(item.search_text)
                  END AS text_bytes
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
                          stores
                        WHERE
                          id = nearest.id
                        LIMIT
                          1
                      ) item USING (id)
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
      $16
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
      ) < $17
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
      s.id,
      s.name,
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
      ) AS store_categories,
      s.address,
      s.description,
      (
        SELECT
          p.images[1]
        FROM
          posts p
        WHERE
          p.store_id = s.id
          AND p.is_visible
        ORDER BY
          created_at DESC,
          id DESC
        LIMIT
          1
      ) AS "firstImage",
      s.created_at AS "createdAt",
      page.distance
    FROM
      page
      JOIN stores s USING (id)
  ) found ON true
ORDER BY
  found.distance,
  found.id DESC;

-- Returns: id integer, name character varying, store_categories json, address character varying, description character varying, firstImage text, createdAt timestamp with time zone, distance bigint, stoppedTime bigint, stoppedId integer, isUsable boolean
-- Pages: at most 128
/* stores.search */
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
  rare AS (
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
              stores item
            WHERE
              item.closed_at IS NULL
              AND item.suspended_at IS NULL
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
  ),
  candidate AS (
    SELECT
      item.id,
      item.created_at,
      item.id AS store_id
    FROM
      stores item
    WHERE
      item.closed_at IS NULL
      AND item.suspended_at IS NULL
      AND search_keys (item.search_text) @> (
        SELECT
          keys
        FROM
          rare
      )
      AND item.closed_at IS NULL
      AND item.suspended_at IS NULL
      AND true
      AND (item.created_at, item.id) < ($2::timestamptz, $3::bigint)
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
            WHEN text_read - text_bytes < 2000000 THEN true
            AND (
              $4::int IS NULL
              OR (
                SELECT
                  true
                FROM
                  store_category_links
                WHERE
                  store_id = item.id
                  AND category_id = $5::int
              ) IS NOT NULL
            )
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
                    ELSE octet_length(item.search_text)
                  END AS text_bytes
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
                          stores
                        WHERE
                          id = candidate.id
                        LIMIT
                          1
                      ) item USING (id, created_at)
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
      $11
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
      ) < $12
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
      s.id,
      s.name,
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
      ) AS store_categories,
      s.address,
      s.description,
      (
        SELECT
          p.images[1]
        FROM
          posts p
        WHERE
          p.store_id = s.id
          AND p.is_visible
        ORDER BY
          created_at DESC,
          id DESC
        LIMIT
          1
      ) AS "firstImage",
      s.created_at AS "createdAt",
      page.distance
    FROM
      page
      JOIN stores s USING (id)
  ) found ON true
ORDER BY
  found."createdAt" DESC,
  found.id DESC;

-- Returns: id integer, name character varying, store_categories json, address character varying, description character varying, firstImage text, createdAt timestamp with time zone, distance bigint, stoppedTime bigint, stoppedId integer, isUsable boolean
-- Pages: at most 32768
/* stores.search */
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
  rare AS (
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
              stores item
            WHERE
              item.closed_at IS NULL
              AND item.suspended_at IS NULL
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
  ),
  candidate AS (
    SELECT
      item.id,
      item.created_at,
      item.id AS store_id
    FROM
      stores item
    WHERE
      item.closed_at IS NULL
      AND item.suspended_at IS NULL
      AND search_keys (item.search_text) @> (
        SELECT
          keys
        FROM
          rare
      )
      AND item.closed_at IS NULL
      AND item.suspended_at IS NULL
      AND true
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
            WHEN text_read - text_bytes < 2000000 THEN true
            AND (
              $2::int IS NULL
              OR (
                SELECT
                  true
                FROM
                  store_category_links
                WHERE
                  store_id = item.id
                  AND category_id = $3::int
              ) IS NOT NULL
            )
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
                    ELSE octet_length(item.search_text)
                  END AS text_bytes
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
                          stores
                        WHERE
                          id = nearest.id
                        LIMIT
                          1
                      ) item USING (id)
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
      $16
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
      ) < $17
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
      s.id,
      s.name,
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
      ) AS store_categories,
      s.address,
      s.description,
      (
        SELECT
          p.images[1]
        FROM
          posts p
        WHERE
          p.store_id = s.id
          AND p.is_visible
        ORDER BY
          created_at DESC,
          id DESC
        LIMIT
          1
      ) AS "firstImage",
      s.created_at AS "createdAt",
      page.distance
    FROM
      page
      JOIN stores s USING (id)
  ) found ON true
ORDER BY
  found.distance,
  found.id DESC;

-- Returns: id integer, name character varying, store_categories json, address character varying, description character varying, firstImage text, createdAt timestamp with time zone, distance bigint, stoppedTime bigint, stoppedId integer, isUsable boolean
-- Pages: at most 128
/* stores.search */
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
          item.id AS store_id
        FROM
          stores item
        WHERE
          item.id = link.store_id
          AND item.closed_at IS NULL
          AND item.suspended_at IS NULL
          AND true
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
            WHEN text_read - text_bytes < 2000000 THEN true
            AND (
              $4::int IS NULL
              OR (
                SELECT
                  true
                FROM
                  store_category_links
                WHERE
                  store_id = item.id
                  AND category_id = $5::int
              ) IS NOT NULL
            )
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
                    ELSE octet_length(item.search_text)
                  END AS text_bytes
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
                          stores
                        WHERE
                          id = candidate.id
                        LIMIT
                          1
                      ) item USING (id, created_at)
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
      $11
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
      ) < $12
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
      s.id,
      s.name,
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
      ) AS store_categories,
      s.address,
      s.description,
      (
        SELECT
          p.images[1]
        FROM
          posts p
        WHERE
          p.store_id = s.id
          AND p.is_visible
        ORDER BY
          created_at DESC,
          id DESC
        LIMIT
          1
      ) AS "firstImage",
      s.created_at AS "createdAt",
      page.distance
    FROM
      page
      JOIN stores s USING (id)
  ) found ON true
ORDER BY
  found."createdAt" DESC,
  found.id DESC;

-- Returns: id integer, name character varying, store_categories json, address character varying, description character varying, firstImage text, createdAt timestamp with time zone, distance bigint, stoppedTime bigint, stoppedId integer, isUsable boolean
-- Pages: at most 2048
/* stores.search */
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
            WHEN text_read - text_bytes < 1000000 THEN true
            AND (
              $1::int IS NULL
              OR (
                SELECT
                  true
                FROM
                  store_category_links
                WHERE
                  store_id = item.id
                  AND category_id = $2::int
              ) IS NOT NULL
            )
            AND (
              $3::text = ''
              OR item.region_keys @> (
                SELECT
                  region_words ($4::text)
              )
            )
            AND (
              $5::text = ''
              OR position(
                (
                  SELECT
                    search_key ($6::text)
                ) IN item.search_text
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
                    ELSE octet_length(item.search_text)
                  END AS text_bytes
                FROM
                  (
                    SELECT
                      item.*
                    FROM
                      stores item
                    WHERE
                      item.closed_at IS NULL
                      AND item.suspended_at IS NULL
                      AND true
                      AND (item.created_at, item.id) < ($8::timestamptz, $9::bigint)
                    ORDER BY
                      created_at DESC,
                      id DESC
                    LIMIT
                      500
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
      $10
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
      ) < $11
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
      s.id,
      s.name,
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
      ) AS store_categories,
      s.address,
      s.description,
      (
        SELECT
          p.images[1]
        FROM
          posts p
        WHERE
          p.store_id = s.id
          AND p.is_visible
        ORDER BY
          created_at DESC,
          id DESC
        LIMIT
          1
      ) AS "firstImage",
      s.created_at AS "createdAt",
      page.distance
    FROM
      page
      JOIN stores s USING (id)
  ) found ON true
ORDER BY
  found."createdAt" DESC,
  found.id DESC;

-- Returns: id integer, name character varying, store_categories json, address character varying, description character varying, firstImage text, createdAt timestamp with time zone, distance bigint, stoppedTime bigint, stoppedId integer, isUsable boolean
-- Pages: at most 512
/* stores.search */
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
            WHEN text_read - text_bytes < 2000000 THEN true
            AND (
              $1::int IS NULL
              OR (
                SELECT
                  true
                FROM
                  store_category_links
                WHERE
                  store_id = item.id
                  AND category_id = $2::int
              ) IS NOT NULL
            )
            AND (
              $3::text = ''
              OR item.region_keys @> (
                SELECT
                  region_words ($4::text)
              )
            )
            AND (
              $5::text = ''
              OR position(
                (
                  SELECT
                    search_key ($6::text)
                ) IN item.search_text
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
                    ELSE octet_length(item.search_text)
                  END AS text_bytes
                FROM
                  (
                    SELECT
                      item.*
                    FROM
                      stores item
                    WHERE
                      item.closed_at IS NULL
                      AND item.suspended_at IS NULL
                      AND true
                      AND (item.created_at, item.id) < ($8::timestamptz, $9::bigint)
                    ORDER BY
                      created_at DESC,
                      id DESC
                    LIMIT
                      5000
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
      $10
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
      ) < $11
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
      s.id,
      s.name,
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
      ) AS store_categories,
      s.address,
      s.description,
      (
        SELECT
          p.images[1]
        FROM
          posts p
        WHERE
          p.store_id = s.id
          AND p.is_visible
        ORDER BY
          created_at DESC,
          id DESC
        LIMIT
          1
      ) AS "firstImage",
      s.created_at AS "createdAt",
      page.distance
    FROM
      page
      JOIN stores s USING (id)
  ) found ON true
ORDER BY
  found."createdAt" DESC,
  found.id DESC;
