-- Returns: kind text, userId integer, requestId bigint
-- Pages: at most 64
/* partner-requests.close */
WITH
  locked AS (
    SELECT
      id
    FROM
      partner_requests
    WHERE
      id = ANY (
        ARRAY(
          SELECT
            id
          FROM
            partner_requests
          WHERE
            post_id = $1
            AND status = 'requested'
        )
      )
      AND status = 'requested'
    ORDER BY
      id
    FOR UPDATE
  ),
  closed AS (
    UPDATE partner_requests
    SET
      updated_at = now(),
      status = CASE status
        WHEN 'requested' THEN 'withdrawn'::partner_request_status
        ELSE 'ended'
      END
    WHERE
      id = ANY (
        ARRAY(
          SELECT
            id
          FROM
            locked
        )
      )
    RETURNING
      id,
      status,
      sender_store_id,
      receiver_store_id
  ),
  notified AS (
    SELECT
      'partner_request_' || c.status AS kind,
      (
        SELECT
          owner_id
        FROM
          stores
        WHERE
          id = c.sender_store_id
      ) AS "userId",
      c.id AS "requestId"
    FROM
      closed c
  )
SELECT
  kind,
  "userId",
  "requestId"
FROM
  notified
WHERE
  "userId" IS NOT NULL
ORDER BY
  "requestId";

-- Returns: kind text, userId integer, requestId bigint
-- Pages: at most 65536
/* partner-requests.close */
WITH
  locked AS (
    SELECT
      id
    FROM
      partner_requests
    WHERE
      id = ANY (
        ARRAY(
          SELECT
            id
          FROM
            partner_requests
          WHERE
            sender_store_id = $1
            AND status = 'requested'
          UNION ALL
          SELECT
            id
          FROM
            partner_requests
          WHERE
            sender_store_id = $2
            AND status = 'accepted'
          UNION ALL
          SELECT
            id
          FROM
            partner_requests
          WHERE
            receiver_store_id = $3
            AND status = 'requested'
          UNION ALL
          SELECT
            id
          FROM
            partner_requests
          WHERE
            receiver_store_id = $4
            AND status = 'accepted'
        )
      )
      AND status IN ('requested', 'accepted')
    ORDER BY
      id
    FOR UPDATE
  ),
  closed AS (
    UPDATE partner_requests
    SET
      updated_at = now(),
      status = CASE status
        WHEN 'requested' THEN 'withdrawn'::partner_request_status
        ELSE 'ended'
      END
    WHERE
      id = ANY (
        ARRAY(
          SELECT
            id
          FROM
            locked
        )
      )
    RETURNING
      id,
      status,
      sender_store_id,
      receiver_store_id
  ),
  notified AS (
    SELECT
      'partner_request_' || c.status AS kind,
      (
        SELECT
          owner_id
        FROM
          stores
        WHERE
          id = CASE c.sender_store_id
            WHEN $5 THEN c.receiver_store_id
            ELSE c.sender_store_id
          END
      ) AS "userId",
      c.id AS "requestId"
    FROM
      closed c
  )
SELECT
  kind,
  "userId",
  "requestId"
FROM
  notified
WHERE
  "userId" IS NOT NULL
ORDER BY
  "requestId";

-- Returns: box text, id bigint, post_id bigint, post_title character varying, status partner_request_status, message character varying, createdAt timestamp with time zone, updatedAt timestamp with time zone, receiver_store_id integer, receiver_store_name character varying, sender_store json, receiver_store json, post json, contact json
-- Pages: at most 128
/* partner-requests.findDetail */
SELECT
  CASE
    WHEN o.id = s.id THEN 'received'
    ELSE 'sent'
  END AS box,
  r.id,
  r.post_id,
  (
    SELECT
      title
    FROM
      posts
    WHERE
      id = r.post_id
  ) AS post_title,
  r.status,
  r.message,
  r.created_at AS "createdAt",
  r.updated_at AS "updatedAt",
  r.receiver_store_id,
  (
    SELECT
      name
    FROM
      stores
    WHERE
      id = r.receiver_store_id
  ) AS receiver_store_name,
  (
    SELECT
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
      )
    FROM
      stores s
    WHERE
      s.id = r.sender_store_id
  ) AS sender_store,
  (
    SELECT
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
      )
    FROM
      stores s
    WHERE
      s.id = r.receiver_store_id
  ) AS receiver_store,
  CASE
    WHEN p.is_visible
    AND v.closed_at IS NULL
    AND v.suspended_at IS NULL THEN json_build_object('id', p.id, 'title', p.title, 'firstImage', p.images[1], 'createdAt', p.created_at)
  END AS post,
  CASE
    WHEN r.status = 'accepted'
    AND s.closed_at IS NULL
    AND s.suspended_at IS NULL
    AND v.closed_at IS NULL
    AND v.suspended_at IS NULL THEN (
      SELECT
        json_build_object('name', u.name, 'email', u.email, 'phone_number', o.phone_number)
      FROM
        users u
      WHERE
        u.id = o.owner_id
    )
  END AS contact
FROM
  partner_requests r
  JOIN posts p ON p.id = r.post_id
  JOIN stores s ON s.id = r.sender_store_id
  JOIN stores v ON v.id = r.receiver_store_id
  JOIN stores o ON o.id = CASE
    WHEN s.owner_id = $1 THEN v.id
    ELSE s.id
  END
WHERE
  r.id = $2
  AND (
    s.owner_id = $3
    OR v.owner_id = $4
  );

-- Returns: id bigint, createdAt timestamp with time zone, contact json, store json, stoppedTime bigint, stoppedId bigint
-- Pages: at most 2048
/* partner-requests.listPartners */
WITH
  own AS MATERIALIZED (
    SELECT
      s.id
    FROM
      stores s
    WHERE
      s.owner_id = $1
      AND s.closed_at IS NULL
      AND s.suspended_at IS NULL
  ),
  page AS MATERIALIZED (
    SELECT
      e.id,
      e.updated_at,
      e.store_id
    FROM
      (
        SELECT
          *
        FROM
          (
            (
              SELECT
                id,
                updated_at,
                receiver_store_id AS store_id
              FROM
                partner_requests
              WHERE
                sender_store_id = (
                  SELECT
                    id
                  FROM
                    own
                )
                AND status = 'accepted'
                AND (updated_at, id) < ($2::timestamptz, $3::bigint)
              ORDER BY
                updated_at DESC,
                id DESC
              LIMIT
                $4
            )
            UNION ALL
            (
              SELECT
                id,
                updated_at,
                sender_store_id AS store_id
              FROM
                partner_requests
              WHERE
                receiver_store_id = (
                  SELECT
                    id
                  FROM
                    own
                )
                AND status = 'accepted'
                AND (updated_at, id) < ($5::timestamptz, $6::bigint)
              ORDER BY
                updated_at DESC,
                id DESC
              LIMIT
                $7
            )
          ) accepted
        ORDER BY
          updated_at DESC,
          id DESC
        LIMIT
          $8
      ) e
    WHERE
      (
        SELECT
          s.closed_at IS NULL
          AND s.suspended_at IS NULL
        FROM
          stores s
        WHERE
          s.id = e.store_id
      )
      AND e.id = (
        SELECT
          id
        FROM
          (
            (
              SELECT
                id,
                updated_at
              FROM
                partner_requests
              WHERE
                sender_store_id = (
                  SELECT
                    id
                  FROM
                    own
                )
                AND receiver_store_id = e.store_id
                AND status = 'accepted'
              ORDER BY
                updated_at DESC,
                id DESC
              LIMIT
                1
            )
            UNION ALL
            (
              SELECT
                id,
                updated_at
              FROM
                partner_requests
              WHERE
                sender_store_id = e.store_id
                AND receiver_store_id = (
                  SELECT
                    id
                  FROM
                    own
                )
                AND status = 'accepted'
              ORDER BY
                updated_at DESC,
                id DESC
              LIMIT
                1
            )
          ) pair
        ORDER BY
          updated_at DESC,
          id DESC
        LIMIT
          1
      )
    ORDER BY
      e.updated_at DESC,
      e.id DESC
    LIMIT
      $9
  ),
  stopped AS (
    SELECT
      (
        extract(
          epoch
          FROM
            e.updated_at
        ) * 1000
      )::bigint AS "stoppedTime",
      e.id AS "stoppedId"
    FROM
      (
        SELECT
          *
        FROM
          (
            (
              SELECT
                id,
                updated_at,
                receiver_store_id AS store_id
              FROM
                partner_requests
              WHERE
                sender_store_id = (
                  SELECT
                    id
                  FROM
                    own
                )
                AND status = 'accepted'
                AND (updated_at, id) < ($10::timestamptz, $11::bigint)
              ORDER BY
                updated_at DESC,
                id DESC
              LIMIT
                $12
            )
            UNION ALL
            (
              SELECT
                id,
                updated_at,
                sender_store_id AS store_id
              FROM
                partner_requests
              WHERE
                receiver_store_id = (
                  SELECT
                    id
                  FROM
                    own
                )
                AND status = 'accepted'
                AND (updated_at, id) < ($13::timestamptz, $14::bigint)
              ORDER BY
                updated_at DESC,
                id DESC
              LIMIT
                $15
            )
          ) accepted
        ORDER BY
          updated_at DESC,
          id DESC
        LIMIT
          $16
      ) e
    WHERE
      (
        SELECT
          count(*)
        FROM
          page
      ) < $17::int
    ORDER BY
      e.updated_at DESC,
      e.id DESC
    OFFSET
      $18::int
    LIMIT
      1
  )
SELECT
  found.*,
  stopped.*
FROM
  (
    SELECT
  ) one_row
  LEFT JOIN stopped ON true
  LEFT JOIN (
    SELECT
      page.id,
      page.updated_at AS "createdAt",
      json_build_object('name', u.name, 'email', u.email, 'phone_number', o.phone_number) AS contact,
      (
        SELECT
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
          )
        FROM
          stores s
        WHERE
          s.id = page.store_id
      ) AS store
    FROM
      page
      JOIN stores o ON o.id = page.store_id
      JOIN users u ON u.id = o.owner_id
  ) found ON true
ORDER BY
  found."createdAt" DESC,
  found.id DESC;

-- Returns: box text, id bigint, post_id bigint, post_title character varying, status partner_request_status, message character varying, createdAt timestamp with time zone, updatedAt timestamp with time zone, sender_store json
-- Pages: at most 512
/* partner-requests.listReceived */
SELECT
  'received' AS box,
  r.id,
  r.post_id,
  (
    SELECT
      title
    FROM
      posts
    WHERE
      id = r.post_id
  ) AS post_title,
  r.status,
  r.message,
  r.created_at AS "createdAt",
  r.updated_at AS "updatedAt",
  (
    SELECT
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
      )
    FROM
      stores s
    WHERE
      s.id = r.sender_store_id
  ) AS sender_store
FROM
  (
    SELECT
      *
    FROM
      partner_requests
    WHERE
      receiver_store_id = (
        SELECT
          id
        FROM
          stores
        WHERE
          owner_id = $1
      )
      AND (created_at, id) < ($2::timestamptz, $3::bigint)
    ORDER BY
      created_at DESC,
      id DESC
    LIMIT
      $4
  ) r
ORDER BY
  r.created_at DESC,
  r.id DESC;

-- Returns: box text, id bigint, post_id bigint, post_title character varying, status partner_request_status, message character varying, createdAt timestamp with time zone, updatedAt timestamp with time zone, sender_store json
-- Pages: at most 512
/* partner-requests.listReceived */
SELECT
  'received' AS box,
  r.id,
  r.post_id,
  (
    SELECT
      title
    FROM
      posts
    WHERE
      id = r.post_id
  ) AS post_title,
  r.status,
  r.message,
  r.created_at AS "createdAt",
  r.updated_at AS "updatedAt",
  (
    SELECT
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
      )
    FROM
      stores s
    WHERE
      s.id = r.sender_store_id
  ) AS sender_store
FROM
  (
    SELECT
      *
    FROM
      partner_requests
    WHERE
      receiver_store_id = (
        SELECT
          id
        FROM
          stores
        WHERE
          owner_id = $1
      )
      AND status = $2::partner_request_status
      AND (created_at, id) < ($3::timestamptz, $4::bigint)
    ORDER BY
      created_at DESC,
      id DESC
    LIMIT
      $5
  ) r
ORDER BY
  r.created_at DESC,
  r.id DESC;

-- Returns: box text, id bigint, post_id bigint, post_title character varying, status partner_request_status, message character varying, createdAt timestamp with time zone, updatedAt timestamp with time zone, receiver_store_id integer, receiver_store_name character varying
-- Pages: at most 256
/* partner-requests.listSent */
SELECT
  'sent' AS box,
  r.id,
  r.post_id,
  (
    SELECT
      title
    FROM
      posts
    WHERE
      id = r.post_id
  ) AS post_title,
  r.status,
  r.message,
  r.created_at AS "createdAt",
  r.updated_at AS "updatedAt",
  r.receiver_store_id,
  (
    SELECT
      name
    FROM
      stores
    WHERE
      id = r.receiver_store_id
  ) AS receiver_store_name
FROM
  (
    SELECT
      *
    FROM
      partner_requests
    WHERE
      sender_store_id = (
        SELECT
          id
        FROM
          stores
        WHERE
          owner_id = $1
      )
      AND (created_at, id) < ($2::timestamptz, $3::bigint)
    ORDER BY
      created_at DESC,
      id DESC
    LIMIT
      $4
  ) r
ORDER BY
  r.created_at DESC,
  r.id DESC;

-- Returns: box text, id bigint, post_id bigint, post_title character varying, status partner_request_status, message character varying, createdAt timestamp with time zone, updatedAt timestamp with time zone, receiver_store_id integer, receiver_store_name character varying
-- Pages: at most 256
/* partner-requests.listSent */
SELECT
  'sent' AS box,
  r.id,
  r.post_id,
  (
    SELECT
      title
    FROM
      posts
    WHERE
      id = r.post_id
  ) AS post_title,
  r.status,
  r.message,
  r.created_at AS "createdAt",
  r.updated_at AS "updatedAt",
  r.receiver_store_id,
  (
    SELECT
      name
    FROM
      stores
    WHERE
      id = r.receiver_store_id
  ) AS receiver_store_name
FROM
  (
    SELECT
      *
    FROM
      partner_requests
    WHERE
      sender_store_id = (
        SELECT
          id
        FROM
          stores
        WHERE
          owner_id = $1
      )
      AND status = $2::partner_request_status
      AND (created_at, id) < ($3::timestamptz, $4::bigint)
    ORDER BY
      created_at DESC,
      id DESC
    LIMIT
      $5
  ) r
ORDER BY
  r.created_at DESC,
  r.id DESC;

-- Returns: refusal text, wait double precision, request jsonb, replayedIn text
-- Pages: at most 256
-- Partitions of notifications: one
-- Changes no index: notification_counts
/* partner-requests.send */
SELECT
  refusal,
  wait,
  request,
  replayed_in AS "replayedIn"
FROM
  send_partner_request (
    $1::text,
    $2::text,
    $3::text[],
    $4::text,
    $5::int,
    $6::bigint,
    $7::text,
    $8::int,
    $9::int,
    $10::jsonb,
    $11::int,
    $12::int
  );

-- Returns: box text, id bigint, post_id bigint, post_title character varying, status partner_request_status, message character varying, createdAt timestamp with time zone, updatedAt timestamp with time zone, receiver_store_id integer, receiver_store_name character varying, sender_store json, otherUserId integer, sentWithinHour integer
-- Pages: at most 128
/* partner-requests.transition */
WITH
  changed AS (
    UPDATE partner_requests r
    SET
      status = $1::partner_request_status,
      updated_at = now()
    FROM
      stores own
    WHERE
      r.id = $2
      AND r.status = $3::partner_request_status
      AND own.id IN (r.receiver_store_id)
      AND own.owner_id = $4
      AND (
        own.suspended_at IS NULL
        OR $5 <> 'accepted'
      )
    RETURNING
      r.*,
      own.id = r.sender_store_id AS is_sender
  )
SELECT
  CASE
    WHEN is_sender THEN 'sent'
    ELSE 'received'
  END AS box,
  r.id,
  r.post_id,
  (
    SELECT
      title
    FROM
      posts
    WHERE
      id = r.post_id
  ) AS post_title,
  r.status,
  r.message,
  r.created_at AS "createdAt",
  r.updated_at AS "updatedAt",
  r.receiver_store_id,
  (
    SELECT
      name
    FROM
      stores
    WHERE
      id = r.receiver_store_id
  ) AS receiver_store_name,
  (
    SELECT
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
      )
    FROM
      stores s
    WHERE
      s.id = r.sender_store_id
  ) AS sender_store,
  (
    SELECT
      owner_id
    FROM
      stores
    WHERE
      id = CASE
        WHEN is_sender THEN r.receiver_store_id
        ELSE r.sender_store_id
      END
  ) AS "otherUserId",
  (
    SELECT
      count(*)::int
    FROM
      partner_requests
    WHERE
      sender_store_id = r.sender_store_id
      AND post_id = r.post_id
      AND created_at > now() - interval '1 hour'
  ) AS "sentWithinHour"
FROM
  changed r;

-- Returns: box text, id bigint, post_id bigint, post_title character varying, status partner_request_status, message character varying, createdAt timestamp with time zone, updatedAt timestamp with time zone, receiver_store_id integer, receiver_store_name character varying, sender_store json, otherUserId integer, sentWithinHour integer
-- Pages: at most 128
/* partner-requests.transition */
WITH
  changed AS (
    UPDATE partner_requests r
    SET
      status = $1::partner_request_status,
      updated_at = now()
    FROM
      stores own
    WHERE
      r.id = $2
      AND r.status = $3::partner_request_status
      AND own.id IN (r.sender_store_id)
      AND own.owner_id = $4
      AND (
        own.suspended_at IS NULL
        OR $5 <> 'accepted'
      )
    RETURNING
      r.*,
      own.id = r.sender_store_id AS is_sender
  )
SELECT
  CASE
    WHEN is_sender THEN 'sent'
    ELSE 'received'
  END AS box,
  r.id,
  r.post_id,
  (
    SELECT
      title
    FROM
      posts
    WHERE
      id = r.post_id
  ) AS post_title,
  r.status,
  r.message,
  r.created_at AS "createdAt",
  r.updated_at AS "updatedAt",
  r.receiver_store_id,
  (
    SELECT
      name
    FROM
      stores
    WHERE
      id = r.receiver_store_id
  ) AS receiver_store_name,
  (
    SELECT
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
      )
    FROM
      stores s
    WHERE
      s.id = r.sender_store_id
  ) AS sender_store,
  (
    SELECT
      owner_id
    FROM
      stores
    WHERE
      id = CASE
        WHEN is_sender THEN r.receiver_store_id
        ELSE r.sender_store_id
      END
  ) AS "otherUserId",
  (
    SELECT
      count(*)::int
    FROM
      partner_requests
    WHERE
      sender_store_id = r.sender_store_id
      AND post_id = r.post_id
      AND created_at > now() - interval '1 hour'
  ) AS "sentWithinHour"
FROM
  changed r;

-- Returns: box text, id bigint, post_id bigint, post_title character varying, status partner_request_status, message character varying, createdAt timestamp with time zone, updatedAt timestamp with time zone, receiver_store_id integer, receiver_store_name character varying, sender_store json, otherUserId integer, sentWithinHour integer
-- Pages: at most 128
/* partner-requests.transition */
WITH
  changed AS (
    UPDATE partner_requests r
    SET
      status = $1::partner_request_status,
      updated_at = now()
    FROM
      stores own
    WHERE
      r.id = $2
      AND r.status = $3::partner_request_status
      AND own.id IN (r.sender_store_id, r.receiver_store_id)
      AND own.owner_id = $4
      AND (
        own.suspended_at IS NULL
        OR $5 <> 'accepted'
      )
    RETURNING
      r.*,
      own.id = r.sender_store_id AS is_sender
  )
SELECT
  CASE
    WHEN is_sender THEN 'sent'
    ELSE 'received'
  END AS box,
  r.id,
  r.post_id,
  (
    SELECT
      title
    FROM
      posts
    WHERE
      id = r.post_id
  ) AS post_title,
  r.status,
  r.message,
  r.created_at AS "createdAt",
  r.updated_at AS "updatedAt",
  r.receiver_store_id,
  (
    SELECT
      name
    FROM
      stores
    WHERE
      id = r.receiver_store_id
  ) AS receiver_store_name,
  (
    SELECT
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
      )
    FROM
      stores s
    WHERE
      s.id = r.sender_store_id
  ) AS sender_store,
  (
    SELECT
      owner_id
    FROM
      stores
    WHERE
      id = CASE
        WHEN is_sender THEN r.receiver_store_id
        ELSE r.sender_store_id
      END
  ) AS "otherUserId",
  (
    SELECT
      count(*)::int
    FROM
      partner_requests
    WHERE
      sender_store_id = r.sender_store_id
      AND post_id = r.post_id
      AND created_at > now() - interval '1 hour'
  ) AS "sentWithinHour"
FROM
  changed r;
