-- repository: change
-- Columns: closesOn, content, createdAt, id, images, isMine, isOpen, myRequestStatus, store, title, updatedAt
WITH
  edited AS (
    INSERT INTO
      store_edits AS counter (store_id)
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
    ON CONFLICT (store_id) DO UPDATE
    SET
      since = CASE
        WHEN counter.since < now() - interval '24 hours' THEN now()
        ELSE counter.since
      END,
      edits = CASE
        WHEN counter.since < now() - interval '24 hours' THEN 1
        ELSE counter.edits + 1
      END
    WHERE
      counter.since < now() - interval '24 hours'
      OR counter.edits < $3
    RETURNING
      store_id AS id
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
  to_char(p.closes_on, 'YYYY-MM-DD') AS "closesOn",
  (
    p.closed_at IS NULL
    AND (
      p.closes_on IS NULL
      OR p.closes_on >= (now() AT TIME ZONE 'Asia/Seoul')::date
    )
  ) AS "isOpen",
  s.owner_id = $9 AS "isMine",
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
  ) AS "myRequestStatus"
FROM
  changed p
  JOIN stores s ON s.id = p.store_id;

-- repository: create
-- Columns: closesOn, content, createdAt, id, images, isMine, isOpen, myRequestStatus, store, title, updatedAt
WITH
  created AS (
    INSERT INTO
      posts (store_id, title, content, images, closes_on)
    SELECT
      s.id,
      $1,
      $2,
      $3::text[],
      $4::date
    FROM
      stores s
    WHERE
      s.id = $5
      AND s.closed_at IS NULL
      AND s.suspended_at IS NULL
    FOR SHARE
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
  to_char(p.closes_on, 'YYYY-MM-DD') AS "closesOn",
  (
    p.closed_at IS NULL
    AND (
      p.closes_on IS NULL
      OR p.closes_on >= (now() AT TIME ZONE 'Asia/Seoul')::date
    )
  ) AS "isOpen",
  s.owner_id = $6 AS "isMine",
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
          owner_id = $7
      )
      AND r.post_id = p.id
    ORDER BY
      r.id DESC
    LIMIT
      1
  ) AS "myRequestStatus"
FROM
  created p
  JOIN stores s ON s.id = p.store_id;

-- repository: find
-- Columns: closesOn, content, createdAt, id, images, isMine, isOpen, myRequestStatus, store, title, updatedAt
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
  to_char(p.closes_on, 'YYYY-MM-DD') AS "closesOn",
  (
    p.closed_at IS NULL
    AND (
      p.closes_on IS NULL
      OR p.closes_on >= (now() AT TIME ZONE 'Asia/Seoul')::date
    )
  ) AS "isOpen",
  s.owner_id = $1 AS "isMine",
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
  ) AS "myRequestStatus"
FROM
  posts p
  JOIN stores s ON s.id = p.store_id
WHERE
  p.id = $3
  AND p.is_visible
  AND s.closed_at IS NULL
  AND s.suspended_at IS NULL;

-- repository: list
-- Columns: closesOn, content, createdAt, distance, id, images, isMine, isOpen, isUsable, myRequestStatus, stoppedId, stoppedTime, store, title, updatedAt
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
      to_char(p.closes_on, 'YYYY-MM-DD') AS "closesOn",
      (
        p.closed_at IS NULL
        AND (
          p.closes_on IS NULL
          OR p.closes_on >= (now() AT TIME ZONE 'Asia/Seoul')::date
        )
      ) AS "isOpen",
      s.owner_id = $14 AS "isMine",
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
      ) AS "myRequestStatus",
      page.distance
    FROM
      page
      JOIN posts p ON p.id = page.id
      JOIN stores s ON s.id = p.store_id
  ) found ON true
ORDER BY
  found."createdAt" DESC,
  found.id DESC;

-- repository: list
-- Columns: closesOn, content, createdAt, distance, id, images, isMine, isOpen, isUsable, myRequestStatus, stoppedId, stoppedTime, store, title, updatedAt
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
      to_char(p.closes_on, 'YYYY-MM-DD') AS "closesOn",
      (
        p.closed_at IS NULL
        AND (
          p.closes_on IS NULL
          OR p.closes_on >= (now() AT TIME ZONE 'Asia/Seoul')::date
        )
      ) AS "isOpen",
      s.owner_id = $14 AS "isMine",
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
      ) AS "myRequestStatus",
      page.distance
    FROM
      page
      JOIN posts p ON p.id = page.id
      JOIN stores s ON s.id = p.store_id
  ) found ON true
ORDER BY
  found."createdAt" DESC,
  found.id DESC;
