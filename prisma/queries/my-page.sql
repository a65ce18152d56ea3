-- Returns: ownerId integer, store json, posts json, sentRequests json
-- Pages: at most 1024
/* my-page.read */
SELECT
  s.owner_id AS "ownerId",
  CASE
    WHEN s.closed_at IS NULL
    AND s.suspended_at IS NULL THEN json_build_object(
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
  END AS store,
  (
    SELECT
      coalesce(json_agg(post), '[]')
    FROM
      (
        SELECT
          id,
          title,
          images[1] AS "firstImage",
          created_at AS "createdAt"
        FROM
          posts
        WHERE
          store_id = s.id
          AND is_visible
        ORDER BY
          created_at DESC,
          id DESC
        LIMIT
          100
      ) post
  ) AS posts,
  (
    SELECT
      coalesce(json_agg(request), '[]')
    FROM
      (
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
              sender_store_id = s.id
            ORDER BY
              created_at DESC,
              id DESC
            LIMIT
              100
          ) r
      ) request
  ) AS "sentRequests"
FROM
  stores s
WHERE
  s.owner_id = ANY ($1);
