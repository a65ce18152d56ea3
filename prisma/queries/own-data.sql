-- Returns: address character varying, last_used_at timestamp with time zone
-- Pages: at most 64
/* own-data.read */
SELECT
  address,
  last_used_at
FROM
  known_addresses
WHERE
  user_id = $1
ORDER BY
  address
LIMIT
  500;

-- Returns: totp_enabled_at timestamp with time zone, recovery_codes_left bigint
-- Pages: at most 64
/* own-data.read */
SELECT
  confirmed_at AS totp_enabled_at,
  (
    SELECT
      count(*)
    FROM
      recovery_codes r
    WHERE
      r.user_id = f.user_id
  ) AS recovery_codes_left
FROM
  second_factors f
WHERE
  user_id = $1;

-- Returns: id bigint, kind character varying, reason text, attempts smallint, created_at timestamp with time zone
-- Pages: at most 512
/* own-data.read */
SELECT
  id + 0 AS id,
  kind,
  reason,
  attempts,
  created_at
FROM
  failed_mails
WHERE
  user_id = $1
  AND (id) > ($2)
ORDER BY
  id
LIMIT
  400;

-- Returns: id bigint, kind character varying, reason text, attempts smallint, created_at timestamp with time zone
-- Pages: at most 512
/* own-data.read */
SELECT
  id + 0 AS id,
  kind,
  reason,
  attempts,
  created_at
FROM
  failed_mails
WHERE
  user_id = $1
ORDER BY
  id
LIMIT
  400;

-- Returns: id bigint, key character varying, width smallint, height smallint, created_at timestamp with time zone
-- Pages: at most 64
/* own-data.read */
SELECT
  id,
  key,
  width,
  height,
  created_at
FROM
  images
WHERE
  user_id = $1
  AND state = 'ready'
ORDER BY
  created_at,
  id
LIMIT
  500;

-- Returns: id bigint, kind consent_kind, action consent_action, version character varying, address character varying, created_at timestamp with time zone
-- Pages: at most 64
/* own-data.read */
SELECT
  id,
  kind,
  action,
  version,
  address,
  created_at
FROM
  consents
WHERE
  user_id = $1
  AND (kind, action, id) > ($2, $3, $4)
ORDER BY
  kind,
  action,
  id
LIMIT
  500;

-- Returns: id bigint, kind consent_kind, action consent_action, version character varying, address character varying, created_at timestamp with time zone
-- Pages: at most 64
/* own-data.read */
SELECT
  id,
  kind,
  action,
  version,
  address,
  created_at
FROM
  consents
WHERE
  user_id = $1
ORDER BY
  kind,
  action,
  id
LIMIT
  500;

-- Returns: id bigint, kind notification_kind, is_read boolean, partner_request_id bigint, post_id bigint, saved_search_id integer, matches integer, created_at timestamp with time zone
-- Pages: at most 256
-- Partitions of notifications: one
/* own-data.read */
SELECT
  id,
  kind,
  is_read,
  partner_request_id,
  post_id,
  saved_search_id,
  matches,
  created_at
FROM
  notifications
WHERE
  user_id = $1
  AND (id) > ($2)
ORDER BY
  id
LIMIT
  500;

-- Returns: id bigint, kind notification_kind, is_read boolean, partner_request_id bigint, post_id bigint, saved_search_id integer, matches integer, created_at timestamp with time zone
-- Pages: at most 256
-- Partitions of notifications: one
/* own-data.read */
SELECT
  id,
  kind,
  is_read,
  partner_request_id,
  post_id,
  saved_search_id,
  matches,
  created_at
FROM
  notifications
WHERE
  user_id = $1
ORDER BY
  id
LIMIT
  500;

-- Returns: id integer, name character varying, store_categories json, description character varying, address character varying, phone_number character varying, business_hours character varying, region jsonb, location jsonb, show_exact_location boolean, hidden_at timestamp with time zone, created_at timestamp with time zone, updated_at timestamp with time zone
-- Pages: at most 64
/* own-data.read */
SELECT
  id,
  name,
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
  description,
  address,
  phone_number,
  business_hours,
  jsonb_build_object('sido', coalesce(sido, ''), 'sigungu', sigungu, 'dong', dong) AS region,
  CASE
    WHEN latitude IS NOT NULL THEN jsonb_build_object('latitude', latitude, 'longitude', longitude)
  END AS location,
  show_exact_location,
  hidden_at,
  created_at,
  updated_at
FROM
  stores s
WHERE
  owner_id = $1;

-- Returns: id integer, name character varying, q character varying, category_id integer, region character varying, near character varying, radius_m integer, created_at timestamp with time zone
-- Pages: at most 64
/* own-data.read */
SELECT
  id,
  name,
  q,
  category_id,
  region,
  near,
  radius_m,
  created_at
FROM
  saved_searches
WHERE
  user_id = $1;

-- Returns: id integer, name character varying, transports text[], is_synced boolean, created_at timestamp with time zone, last_used_at timestamp with time zone
-- Pages: at most 64
/* own-data.read */
SELECT
  id,
  name,
  transports,
  is_synced,
  created_at,
  last_used_at
FROM
  passkeys
WHERE
  user_id = $1;

-- Returns: id bigint, post_id bigint, post_title character varying, receiver_store_id integer, receiver_store_name character varying, status text, message character varying, created_at timestamp with time zone, updated_at timestamp with time zone
-- Pages: at most 512
/* own-data.read */
SELECT
  id,
  post_id,
  (
    SELECT
      title
    FROM
      posts
    WHERE
      id = r.post_id
  ) AS post_title,
  receiver_store_id,
  (
    SELECT
      name
    FROM
      stores
    WHERE
      id = r.receiver_store_id
  ) AS receiver_store_name,
  $1::jsonb ->> status::text AS status,
  message,
  created_at,
  updated_at
FROM
  partner_requests r
WHERE
  sender_store_id = (
    SELECT
      id
    FROM
      stores
    WHERE
      owner_id = $2
  )
  AND (created_at, id) > ($3, $4)
ORDER BY
  created_at,
  id
LIMIT
  50;

-- Returns: id bigint, post_id bigint, post_title character varying, receiver_store_id integer, receiver_store_name character varying, status text, message character varying, created_at timestamp with time zone, updated_at timestamp with time zone
-- Pages: at most 512
/* own-data.read */
SELECT
  id,
  post_id,
  (
    SELECT
      title
    FROM
      posts
    WHERE
      id = r.post_id
  ) AS post_title,
  receiver_store_id,
  (
    SELECT
      name
    FROM
      stores
    WHERE
      id = r.receiver_store_id
  ) AS receiver_store_name,
  $1::jsonb ->> status::text AS status,
  message,
  created_at,
  updated_at
FROM
  partner_requests r
WHERE
  sender_store_id = (
    SELECT
      id
    FROM
      stores
    WHERE
      owner_id = $2
  )
ORDER BY
  created_at,
  id
LIMIT
  50;

-- Returns: id bigint, post_id bigint, post_title character varying, sender_store_id integer, sender_store_name character varying, status text, message character varying, created_at timestamp with time zone, updated_at timestamp with time zone
-- Pages: at most 512
/* own-data.read */
SELECT
  id,
  post_id,
  (
    SELECT
      title
    FROM
      posts
    WHERE
      id = r.post_id
  ) AS post_title,
  sender_store_id,
  (
    SELECT
      name
    FROM
      stores
    WHERE
      id = r.sender_store_id
  ) AS sender_store_name,
  $1::jsonb ->> status::text AS status,
  message,
  created_at,
  updated_at
FROM
  partner_requests r
WHERE
  receiver_store_id = (
    SELECT
      id
    FROM
      stores
    WHERE
      owner_id = $2
  )
  AND (created_at, id) > ($3, $4)
ORDER BY
  created_at,
  id
LIMIT
  50;

-- Returns: id bigint, post_id bigint, post_title character varying, sender_store_id integer, sender_store_name character varying, status text, message character varying, created_at timestamp with time zone, updated_at timestamp with time zone
-- Pages: at most 512
/* own-data.read */
SELECT
  id,
  post_id,
  (
    SELECT
      title
    FROM
      posts
    WHERE
      id = r.post_id
  ) AS post_title,
  sender_store_id,
  (
    SELECT
      name
    FROM
      stores
    WHERE
      id = r.sender_store_id
  ) AS sender_store_name,
  $1::jsonb ->> status::text AS status,
  message,
  created_at,
  updated_at
FROM
  partner_requests r
WHERE
  receiver_store_id = (
    SELECT
      id
    FROM
      stores
    WHERE
      owner_id = $2
  )
ORDER BY
  created_at,
  id
LIMIT
  50;

-- Returns: id bigint, post_id bigint, store_id integer, reason report_reason, text character varying, created_at timestamp with time zone, closed_at timestamp with time zone
-- Pages: at most 256
/* own-data.read */
SELECT
  id,
  post_id,
  store_id,
  reason,
  text,
  created_at,
  closed_at
FROM
  reports
WHERE
  reporter_id = $1
  AND (created_at, id) > ($2, $3)
ORDER BY
  created_at,
  id
LIMIT
  50;

-- Returns: id bigint, post_id bigint, store_id integer, reason report_reason, text character varying, created_at timestamp with time zone, closed_at timestamp with time zone
-- Pages: at most 256
/* own-data.read */
SELECT
  id,
  post_id,
  store_id,
  reason,
  text,
  created_at,
  closed_at
FROM
  reports
WHERE
  reporter_id = $1
ORDER BY
  created_at,
  id
LIMIT
  50;

-- Returns: id integer, provider character varying, issuer character varying, subject character varying, email character varying, created_at timestamp with time zone, last_used_at timestamp with time zone
-- Pages: at most 64
/* own-data.read */
SELECT
  id,
  provider,
  issuer,
  subject,
  email,
  created_at,
  last_used_at
FROM
  identities
WHERE
  user_id = $1;

-- Returns: id integer, host text, user_agent character varying, created_at timestamp with time zone
-- Pages: at most 64
/* own-data.read */
SELECT
  id,
  split_part(endpoint, '/', 3) AS host,
  user_agent,
  created_at
FROM
  push_subscriptions
WHERE
  user_id = $1;

-- Returns: id bigint, title character varying, content character varying, images text[], status text, closes_on text, closed_at timestamp with time zone, hidden_at timestamp with time zone, deleted_at timestamp with time zone, created_at timestamp with time zone, updated_at timestamp with time zone
-- Pages: at most 64
/* own-data.read */
SELECT
  id,
  title,
  content,
  images,
  CASE
    WHEN (
      p.closed_at IS NULL
      AND (
        p.closes_on IS NULL
        OR p.closes_on >= (now() AT TIME ZONE 'Asia/Seoul')::date
      )
    ) THEN 'open'
    ELSE 'closed'
  END AS status,
  closes_on::text,
  closed_at,
  hidden_at,
  deleted_at,
  created_at,
  updated_at
FROM
  posts p
WHERE
  store_id = (
    SELECT
      id
    FROM
      stores
    WHERE
      owner_id = $1
  )
  AND NOT is_visible
ORDER BY
  created_at,
  id
LIMIT
  5;

-- Returns: id bigint, title character varying, content character varying, images text[], status text, closes_on text, closed_at timestamp with time zone, hidden_at timestamp with time zone, deleted_at timestamp with time zone, created_at timestamp with time zone, updated_at timestamp with time zone
-- Pages: at most 64
/* own-data.read */
SELECT
  id,
  title,
  content,
  images,
  CASE
    WHEN (
      p.closed_at IS NULL
      AND (
        p.closes_on IS NULL
        OR p.closes_on >= (now() AT TIME ZONE 'Asia/Seoul')::date
      )
    ) THEN 'open'
    ELSE 'closed'
  END AS status,
  closes_on::text,
  closed_at,
  hidden_at,
  deleted_at,
  created_at,
  updated_at
FROM
  posts p
WHERE
  store_id = (
    SELECT
      id
    FROM
      stores
    WHERE
      owner_id = $1
  )
  AND is_visible
  AND (created_at, id) > ($2, $3)
ORDER BY
  created_at,
  id
LIMIT
  5;

-- Returns: id bigint, title character varying, content character varying, images text[], status text, closes_on text, closed_at timestamp with time zone, hidden_at timestamp with time zone, deleted_at timestamp with time zone, created_at timestamp with time zone, updated_at timestamp with time zone
-- Pages: at most 64
/* own-data.read */
SELECT
  id,
  title,
  content,
  images,
  CASE
    WHEN (
      p.closed_at IS NULL
      AND (
        p.closes_on IS NULL
        OR p.closes_on >= (now() AT TIME ZONE 'Asia/Seoul')::date
      )
    ) THEN 'open'
    ELSE 'closed'
  END AS status,
  closes_on::text,
  closed_at,
  hidden_at,
  deleted_at,
  created_at,
  updated_at
FROM
  posts p
WHERE
  store_id = (
    SELECT
      id
    FROM
      stores
    WHERE
      owner_id = $1
  )
  AND is_visible
ORDER BY
  created_at,
  id
LIMIT
  5;

-- Returns: id uuid, user_agent character varying, ip character varying, methods text[], authenticated_at timestamp with time zone, created_at timestamp with time zone, last_used_at timestamp with time zone, expires_at timestamp with time zone
-- Pages: at most 128
/* own-data.read */
SELECT
  id,
  user_agent,
  ip,
  methods,
  coalesce(confirmed_at, created_at) AS authenticated_at,
  created_at,
  last_used_at,
  expires_at
FROM
  sessions
WHERE
  user_id = $1
ORDER BY
  created_at,
  id
LIMIT
  200;

-- Returns: id integer, username character varying, name character varying, email character varying, role role, is_verified boolean, has_password boolean, created_at timestamp with time zone, last_login_at timestamp with time zone
-- Pages: at most 64
/* own-data.read */
SELECT
  id,
  username,
  name,
  email,
  role,
  is_verified,
  password_hash IS NOT NULL AS has_password,
  created_at,
  last_login_at
FROM
  users
WHERE
  id = $1;

-- Returns: language language, has_chosen_language boolean, email jsonb, push jsonb, quiet_hours jsonb
-- Pages: at most 64
/* own-data.read */
SELECT
  language,
  has_chosen_language,
  (
    SELECT
      jsonb_object_agg(topic, topic <> ALL (muted_mails))
    FROM
      unnest($1::mail_topic[]) topic
  ) AS email,
  (
    SELECT
      jsonb_object_agg(topic, topic <> ALL (muted_pushes))
    FROM
      unnest($2::mail_topic[]) topic
  ) AS push,
  CASE
    WHEN quiet_from IS NOT NULL THEN jsonb_build_object('from', quiet_from, 'to', quiet_to)
  END AS quiet_hours
FROM
  users
WHERE
  id = $3;

-- Returns: old_email character varying, new_email character varying, expires_at timestamp with time zone
-- Pages: at most 64
/* own-data.read */
SELECT
  old_email,
  new_email,
  expires_at
FROM
  email_changes
WHERE
  user_id = $1;

-- Returns: purpose mail_purpose, sent_at timestamp with time zone[]
-- Pages: at most 64
/* own-data.read */
SELECT
  purpose,
  sent_at
FROM
  mail_sends
WHERE
  purpose = ANY (enum_range(NULL::mail_purpose))
  AND email = (
    SELECT
      email
    FROM
      users
    WHERE
      id = $1
  );
