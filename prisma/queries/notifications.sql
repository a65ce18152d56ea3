-- inbox/repository: countMatches
-- Columns: id, isOfDigest
-- Pages: at most 64
-- Changes no index: notification_counts
INSERT INTO
  notification_counts AS c (user_id, unread, match_day, matches)
SELECT
  id,
  1,
  (now() AT TIME ZONE 'Asia/Seoul')::date,
  1
FROM
  unnest($1::int[]) AS matched (id)
WHERE
  (
    SELECT
      true
    FROM
      users u
    WHERE
      u.id = matched.id
  )
ON CONFLICT (user_id) DO UPDATE
SET
  match_day = greatest(c.match_day, excluded.match_day),
  matches = 1 + CASE
    WHEN c.match_day >= excluded.match_day THEN c.matches
    ELSE 0
  END,
  unread = c.unread + CASE
    WHEN c.match_day >= excluded.match_day
    AND c.matches >= 20 THEN 0
    ELSE 1
  END,
  waiting_matches = c.waiting_matches + CASE
    WHEN c.match_day >= excluded.match_day
    AND c.matches >= 20 THEN 1
    ELSE 0
  END
RETURNING
  user_id AS id,
  matches > $2 AS "isOfDigest";

-- inbox/repository: createNotificationRepository
-- Columns: place, rows, unreadCount
-- Pages: at most 512
-- Partitions of notifications: one
SELECT
  wanted.place::int,
  coalesce(c.unread, 0) AS "unreadCount",
  (
    SELECT
      coalesce(json_agg(item), '[]')
    FROM
      (
        SELECT
          n.id,
          n.kind,
          n.is_read AS "isRead",
          n.created_at AS "createdAt",
          CASE
            WHEN r.id IS NOT NULL THEN json_build_object(
              'id',
              r.id,
              'post_id',
              r.post_id,
              'post_title',
              p.title,
              'status',
              r.status,
              'sender_store_id',
              r.sender_store_id,
              'sender_store_name',
              s.name,
              'receiver_store_id',
              r.receiver_store_id,
              'receiver_store_name',
              v.name,
              'message',
              r.message
            )
          END AS request,
          coalesce(s.owner_id = n.user_id, false) AS "toSender",
          CASE
            WHEN n.post_id IS NOT NULL THEN (
              SELECT
                json_build_object(
                  'savedSearchId',
                  n.saved_search_id,
                  'store',
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
                  ),
                  'post',
                  json_build_object(
                    'id',
                    p.id,
                    'title',
                    p.title,
                    'createdAt',
                    p.created_at,
                    'firstImage',
                    CASE
                      WHEN p.is_visible
                      AND s.closed_at IS NULL
                      AND s.suspended_at IS NULL THEN p.images[1]
                    END
                  )
                )
              FROM
                posts p
                JOIN stores s ON s.id = p.store_id
              WHERE
                p.id = n.post_id
            )
          END AS match,
          n.matches
        FROM
          notification_page (wanted.user_id, wanted.before_id, wanted.size, wanted.is_read) n
          LEFT JOIN partner_requests r ON r.id = n.partner_request_id
          LEFT JOIN posts p ON p.id = r.post_id
          LEFT JOIN stores s ON s.id = r.sender_store_id
          LEFT JOIN stores v ON v.id = r.receiver_store_id
        ORDER BY
          n.id DESC
      ) item
  ) AS rows
FROM
  unnest($1::int[], $2::bigint[], $3::int[], $4::bool[]) WITH ORDINALITY AS wanted (user_id, before_id, size, is_read, place)
  LEFT JOIN notification_counts c ON c.user_id = wanted.user_id;

-- inbox/repository: createNotificationRepository
-- Columns: unread, userId
-- Pages: at most 64
SELECT
  user_id AS "userId",
  unread
FROM
  notification_counts
WHERE
  user_id = ANY ($1);

-- inbox/repository: deleteOld
-- Columns: found
-- Pages: at most 64
-- Partitions of notifications: one
SELECT
  delete_old_notifications ($1::regclass, $2, $3) AS found;

-- inbox/repository: deleteOld
-- Columns: name
-- Pages: at most 0
SELECT
  coalesce(inhrelid, 'notifications'::regclass)::regclass::text AS name
FROM
  (
    SELECT
  ) one
  LEFT JOIN pg_inherits ON inhparent = 'notifications'::regclass;

-- inbox/repository: listAfter
-- Columns: createdAt, id, isRead, kind, match, matches, request, toSender
-- Pages: at most 512
-- Partitions of notifications: one
SELECT
  n.id,
  n.kind,
  n.is_read AS "isRead",
  n.created_at AS "createdAt",
  CASE
    WHEN r.id IS NOT NULL THEN json_build_object(
      'id',
      r.id,
      'post_id',
      r.post_id,
      'post_title',
      p.title,
      'status',
      r.status,
      'sender_store_id',
      r.sender_store_id,
      'sender_store_name',
      s.name,
      'receiver_store_id',
      r.receiver_store_id,
      'receiver_store_name',
      v.name,
      'message',
      r.message
    )
  END AS request,
  coalesce(s.owner_id = n.user_id, false) AS "toSender",
  CASE
    WHEN n.post_id IS NOT NULL THEN (
      SELECT
        json_build_object(
          'savedSearchId',
          n.saved_search_id,
          'store',
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
          ),
          'post',
          json_build_object(
            'id',
            p.id,
            'title',
            p.title,
            'createdAt',
            p.created_at,
            'firstImage',
            CASE
              WHEN p.is_visible
              AND s.closed_at IS NULL
              AND s.suspended_at IS NULL THEN p.images[1]
            END
          )
        )
      FROM
        posts p
        JOIN stores s ON s.id = p.store_id
      WHERE
        p.id = n.post_id
    )
  END AS match,
  n.matches
FROM
  notifications_after ($1, $2, $3) n
  LEFT JOIN partner_requests r ON r.id = n.partner_request_id
  LEFT JOIN posts p ON p.id = r.post_id
  LEFT JOIN stores s ON s.id = r.sender_store_id
  LEFT JOIN stores v ON v.id = r.receiver_store_id
ORDER BY
  n.id;

-- inbox/repository: lockCounts
-- Pages: at most 64
SELECT
FROM
  notification_counts
WHERE
  user_id = ANY ($1)
ORDER BY
  user_id
FOR NO KEY UPDATE;

-- inbox/repository: markRead
-- Columns: last, updated
-- Pages: at most 65536
-- Partitions of notifications: one
-- Changes no index: notification_counts
SELECT
  updated,
  last
FROM
  mark_notifications_read ($1, $2::bigint[], $3::bigint, $4::bigint, 5000);

-- inbox/repository: notify
-- Pages: at most 32768
-- Partitions of notifications: several
-- Changes no index: notification_counts
SELECT
notify ($1::int[], $2::notification_kind[], $3::bigint[], $4::bigint[], $5::int[], $6::int[]);

-- preferences/repository: change
-- Pages: at most 64
-- Changes no index: users
UPDATE users
SET
  language = coalesce($1::language, language),
  has_chosen_language = has_chosen_language
  OR $2::language IS NOT NULL,
  has_match_mails = coalesce($3, has_match_mails),
  muted_mails = ARRAY(
    SELECT
      unnest(muted_mails)
    EXCEPT
    SELECT
      unnest($4::mail_topic[])
    UNION
    SELECT
      unnest($5::mail_topic[])
  ),
  muted_pushes = ARRAY(
    SELECT
      unnest(muted_pushes)
    EXCEPT
    SELECT
      unnest($6::mail_topic[])
    UNION
    SELECT
      unnest($7::mail_topic[])
  ),
  quiet_from = CASE
    WHEN $8 THEN quiet_from
    ELSE $9
  END,
  quiet_to = CASE
    WHEN $10 THEN quiet_to
    ELSE $11
  END
WHERE
  id = $12;

-- preferences/repository: decideDelivery
-- Columns: hours, language, now
-- Pages: at most 64
SELECT
  language,
  clock_timestamp() AS now,
  CASE
    WHEN quiet_from IS NOT NULL THEN json_build_object('from', quiet_from, 'to', quiet_to)
  END AS hours
FROM
  users
WHERE
  id = $1
  AND suspended_at IS NULL
  AND $2::mail_topic <> ALL (muted_mails);

-- preferences/repository: decideDelivery
-- Columns: hours, language, now
-- Pages: at most 64
SELECT
  language,
  clock_timestamp() AS now,
  CASE
    WHEN quiet_from IS NOT NULL THEN json_build_object('from', quiet_from, 'to', quiet_to)
  END AS hours
FROM
  users
WHERE
  id = $1
  AND suspended_at IS NULL
  AND $2::mail_topic <> ALL (muted_pushes);

-- preferences/repository: decideDelivery
-- Columns: hours, language, now
-- Pages: at most 64
SELECT
  language,
  clock_timestamp() AS now,
  CASE
    WHEN quiet_from IS NOT NULL THEN json_build_object('from', quiet_from, 'to', quiet_to)
  END AS hours
FROM
  users
WHERE
  id = $1
  AND suspended_at IS NULL
  AND has_match_mails;

-- push/repository: save
-- Columns: createdAt, id, isNew, userAgent
-- Pages: at most 64
WITH
  own AS (
    UPDATE push_subscriptions
    SET
      session_id = $1::uuid,
      p256dh = $2,
      auth = $3,
      user_agent = $4,
      failures = 0,
      retry_at = NULL
    WHERE
      user_id = $5
      AND endpoint = $6
    RETURNING
      *
  ),
  added AS (
    INSERT INTO
      push_subscriptions (user_id, session_id, endpoint, p256dh, auth, user_agent)
    SELECT
      id,
      $7::uuid,
      $8,
      $9,
      $10,
      $11
    FROM
      users
    WHERE
      id = $12
      AND NOT EXISTS (
        SELECT
        FROM
          own
      )
      AND (
        SELECT
          count(*)
        FROM
          push_subscriptions
        WHERE
          user_id = $13
      ) < $14
    ON CONFLICT (endpoint) DO UPDATE
    SET
      id = excluded.id,
      user_id = excluded.user_id,
      session_id = excluded.session_id,
      p256dh = excluded.p256dh,
      auth = excluded.auth,
      user_agent = excluded.user_agent,
      failures = 0,
      retry_at = NULL,
      created_at = excluded.created_at
    RETURNING
      *
  )
SELECT
  id,
  created_at AS "createdAt",
  user_agent AS "userAgent",
  EXISTS (
    SELECT
    FROM
      added
  ) AS "isNew"
FROM
  (
    SELECT
      *
    FROM
      own
    UNION ALL
    SELECT
      *
    FROM
      added
  ) saved;
