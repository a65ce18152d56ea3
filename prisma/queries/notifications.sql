-- Pages: at most 64
-- Changes no index: users
/* notifications.changePreferences */
UPDATE users
SET
  language = coalesce($1::language, language),
  has_chosen_language = has_chosen_language
  OR $2::language IS NOT NULL,
  muted_mails = ARRAY(
    SELECT
      unnest(muted_mails)
    EXCEPT
    SELECT
      unnest($3::mail_topic[])
    UNION
    SELECT
      unnest($4::mail_topic[])
  ),
  muted_pushes = ARRAY(
    SELECT
      unnest(muted_pushes)
    EXCEPT
    SELECT
      unnest($5::mail_topic[])
    UNION
    SELECT
      unnest($6::mail_topic[])
  ),
  quiet_from = CASE
    WHEN $7 THEN quiet_from
    ELSE $8
  END,
  quiet_to = CASE
    WHEN $9 THEN quiet_to
    ELSE $10
  END
WHERE
  id = $11;

-- Returns: id integer, isOfDigest boolean
-- Pages: at most 64
/* notifications.countMatches */
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

-- Returns: userId integer, unread integer
-- Pages: at most 64
/* notifications.countUnread */
SELECT
  user_id AS "userId",
  unread
FROM
  notification_counts
WHERE
  user_id = ANY ($1);

-- Pages: at most 64
/* notifications.defer */
WITH
  recipient AS MATERIALIZED (
    SELECT
      id
    FROM
      users
    WHERE
      id = $1
      AND quiet_from = $2
      AND quiet_to = $3
    FOR SHARE
  )
SELECT
FROM
  recipient,
  graphile_worker._private_jobs j
  JOIN graphile_worker._private_tasks t ON t.id = j.task_id,
  graphile_worker.add_job (
    t.identifier,
    (j.payload::jsonb || '{"is_deferred": 1}')::json,
    job_key => 'waiting:' || recipient.id || ':' || j.id,
    run_at => $4::timestamptz,
    max_attempts => j.max_attempts::int,
    priority => j.priority::int
  )
WHERE
  j.id = $5::bigint;

-- Returns: found integer
-- Pages: at most 64
-- Partitions of notifications: one
/* notifications.deleteOld */
SELECT
  delete_old_notifications ($1::regclass, $2, $3) AS found;

-- Returns: language language, now timestamp with time zone, hours json
-- Pages: at most 64
/* notifications.findDelivery */
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

-- Returns: id bigint, kind notification_kind, isRead boolean, createdAt timestamp with time zone, request json, toSender boolean, match json, matches integer
-- Pages: at most 512
-- Partitions of notifications: one
/* notifications.listAfter */
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

-- Returns: place integer, unreadCount integer, rows json
-- Pages: at most 1024
-- Partitions of notifications: one
/* notifications.listPage */
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

-- Returns: name text
-- Pages: at most 0
/* notifications.listPartitions */
SELECT
  coalesce(inhrelid, 'notifications'::regclass)::regclass::text AS name
FROM
  (
    SELECT
  ) one
  LEFT JOIN pg_inherits ON inhparent = 'notifications'::regclass;

-- Pages: at most 64
/* notifications.lockCounts */
SELECT
FROM
  notification_counts
WHERE
  user_id = ANY ($1)
ORDER BY
  user_id
FOR NO KEY UPDATE;

-- Returns: updated integer, last bigint
-- Pages: at most 65536
-- Partitions of notifications: one
-- Changes no index: notification_counts
/* notifications.markRead */
SELECT
  updated,
  last
FROM
  mark_notifications_read ($1, $2::bigint[], $3::bigint, $4::bigint, 5000);

-- Returns: notify void
-- Pages: at most 32768
-- Partitions of notifications: several
-- Changes no index: notification_counts
/* notifications.notify */
SELECT
notify ($1::int[], $2::notification_kind[], $3::bigint[], $4::bigint[], $5::int[], $6::int[]);

-- Returns: id integer, createdAt timestamp with time zone, userAgent character varying, isNew boolean
-- Pages: at most 64
-- Changes no index: push_subscriptions
/* notifications.savePushSubscription */
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

-- Returns: userId integer, matches integer
-- Pages: at most 64
/* notifications.takeWaitingMatches */
WITH
  due AS MATERIALIZED (
    SELECT
      c.user_id,
      c.waiting_matches
    FROM
      notification_counts c
      JOIN users u ON u.id = c.user_id
    WHERE
      c.waiting_matches > 0
      AND c.digest_day IS DISTINCT FROM (now() AT TIME ZONE 'Asia/Seoul' - interval '19 hours')::date
      AND u.suspended_at IS NULL
    ORDER BY
      c.user_id
    LIMIT
      500
    FOR NO KEY UPDATE OF
      c
  )
UPDATE notification_counts c
SET
  waiting_matches = 0,
  digest_day = (now() AT TIME ZONE 'Asia/Seoul' - interval '19 hours')::date
FROM
  due
WHERE
  c.user_id = due.user_id
RETURNING
  c.user_id AS "userId",
  due.waiting_matches AS matches;

-- Pages: at most 0
/* notifications.wakeWaiting */
SELECT
FROM
  graphile_worker.reschedule_jobs (
    ARRAY(
      SELECT
        id
      FROM
        graphile_worker._private_jobs
      WHERE
        key BETWEEN 'waiting:' || $1::int || ':' AND 'waiting:' || $2::int || ':' || 'z'
        AND starts_with(key, 'waiting:' || $3::int || ':')
    ),
    run_at => now()
  );
