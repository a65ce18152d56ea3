-- Pages: at most 64
/* auth.beginFlow */
INSERT INTO
  login_flows (id, kind, user_id, session_id, data, key_id, expires_at)
VALUES
  (
    $1::uuid,
    $2::login_flow_kind,
    (
      SELECT
        id
      FROM
        users
      WHERE
        id = $3
      FOR KEY SHARE
    ),
    $4::uuid,
    $5::jsonb,
    $6,
    now() + make_interval(secs => $7)
  );

-- Pages: at most 64
/* auth.clearFailures */
DELETE FROM login_failures
WHERE
  key = ANY (
    ARRAY(
      SELECT
        f.key
      FROM
        unnest($1::text[]) AS k (start)
        JOIN login_failures f ON f.key BETWEEN k.start AND k.start || 'g'
      ORDER BY
        f.key || ''
      FOR UPDATE OF
        f
    )
  );

-- Returns: confirmedAt timestamp with time zone
-- Pages: at most 64
-- Changes no index: sessions
/* auth.confirmSession */
UPDATE sessions
SET
  confirmed_at = clock_timestamp(),
  methods = CASE
    WHEN $1 = ANY (methods) THEN methods
    ELSE methods || $2::text
  END
WHERE
  id = $3::uuid
  AND user_id = $4
RETURNING
  confirmed_at AS "confirmedAt";

-- Pages: at most 64
-- Changes no index: login_failures
/* auth.countFailure */
UPDATE login_failures f
SET
  failed_at = ARRAY(
    SELECT
      t
    FROM
      unnest(failed_at) t
    WHERE
      t > clock_timestamp() - make_interval(secs => $1)
    ORDER BY
      t DESC
    LIMIT
      $2
  ) || clock_timestamp(),
  delay_seconds = n.delay,
  locked_until = CASE
    WHEN n.delay > 0 THEN clock_timestamp() + make_interval(secs => n.delay)
  END,
  updated_at = clock_timestamp()
FROM
  unnest($3::text[], $4::int[]) AS n (key, delay)
WHERE
  f.key = n.key;

-- Pages: at most 64
/* auth.endReusedSession */
DELETE FROM sessions s USING users u
WHERE
  s.id = $1::uuid
  AND s.user_id = $2
  AND u.id = s.user_id
  AND u.suspended_at IS NULL
  AND s.expires_at > now()
  AND s.created_at > now() - make_interval(secs => 7776000)
  AND s.refresh_count > $3;

-- Returns: id integer, email character varying, isVerified boolean
-- Pages: at most 256
/* auth.findAbandoned */
SELECT
  u.id,
  u.email,
  u.is_verified AS "isVerified"
FROM
  users u
WHERE
  ctid >= $1::tid
  AND ctid < $2::tid
  AND NOT u.is_verified
  AND u.suspended_at IS NULL
  AND coalesce(u.last_login_at, u.created_at) < now() - make_interval(secs => $3)
  AND NOT EXISTS (
    SELECT
    FROM
      sessions s
    WHERE
      s.user_id = u.id
      AND s.expires_at > now()
  )
  AND NOT EXISTS (
    SELECT
    FROM
      stores s
    WHERE
      s.owner_id = u.id
  );

-- Returns: isRecent boolean, needsReset boolean, methods text[]
-- Pages: at most 64
/* auth.findConfirmation */
SELECT
  coalesce(s.confirmed_at, s.created_at) > now() - make_interval(secs => $1) AS "isRecent",
  u.needs_reset AS "needsReset",
  CASE
    WHEN u.password_hash IS NOT NULL THEN ARRAY['password']
    ELSE '{}'
  END || CASE
    WHEN EXISTS (
      SELECT
      FROM
        second_factors f
      WHERE
        f.user_id = u.id
        AND f.confirmed_at IS NOT NULL
    ) THEN ARRAY['totp', 'recovery_code']
    ELSE '{}'
  END || ARRAY(
    SELECT DISTINCT
      provider::text
    FROM
      identities i
    WHERE
      i.user_id = u.id
  ) AS methods
FROM
  sessions s
  JOIN users u ON u.id = s.user_id
  AND u.suspended_at IS NULL
  AND s.expires_at > now()
  AND s.created_at > now() - make_interval(secs => 7776000)
WHERE
  s.id = $2::uuid;

-- Returns: id uuid
-- Pages: at most 64
/* auth.findLiveSessions */
SELECT
  s.id
FROM
  sessions s
  JOIN users u ON u.id = s.user_id
  AND u.suspended_at IS NULL
  AND s.expires_at > now()
  AND s.created_at > now() - make_interval(secs => 7776000)
WHERE
  s.id = ANY ($1::uuid[]);

-- Returns: id integer, username character varying, name character varying, email character varying, role role, isVerified boolean, passwordHash text, isSuspended boolean, needsReset boolean, isAddressKnown boolean, hasSecondFactor boolean
-- Pages: at most 64
/* auth.findLoginAccount */
SELECT
  id,
  username,
  name,
  email,
  role,
  is_verified AS "isVerified",
  password_hash AS "passwordHash",
  suspended_at IS NOT NULL AS "isSuspended",
  needs_reset AS "needsReset",
  EXISTS (
    SELECT
    FROM
      known_addresses k
    WHERE
      k.user_id = u.id
      AND k.address = $1
      AND k.last_used_at > now() - make_interval(days => $2)
  ) AS "isAddressKnown",
  EXISTS (
    SELECT
    FROM
      second_factors f
    WHERE
      f.user_id = u.id
      AND f.confirmed_at IS NOT NULL
  ) AS "hasSecondFactor"
FROM
  users u
WHERE
  id = $3;

-- Returns: id integer, username character varying, name character varying, email character varying, role role, isVerified boolean, passwordHash text, isSuspended boolean, needsReset boolean, isAddressKnown boolean, hasSecondFactor boolean
-- Pages: at most 64
/* auth.findLoginAccount */
SELECT
  id,
  username,
  name,
  email,
  role,
  is_verified AS "isVerified",
  password_hash AS "passwordHash",
  suspended_at IS NOT NULL AS "isSuspended",
  needs_reset AS "needsReset",
  EXISTS (
    SELECT
    FROM
      known_addresses k
    WHERE
      k.user_id = u.id
      AND k.address = $1
      AND k.last_used_at > now() - make_interval(days => $2)
  ) AS "isAddressKnown",
  EXISTS (
    SELECT
    FROM
      second_factors f
    WHERE
      f.user_id = u.id
      AND f.confirmed_at IS NOT NULL
  ) AS "hasSecondFactor"
FROM
  users u
WHERE
  u.id = (
    SELECT
      p.user_id
    FROM
      passkeys p
    WHERE
      p.id = $3
  );

-- Returns: id integer, username character varying, name character varying, email character varying, role role, isVerified boolean, passwordHash text, isSuspended boolean, needsReset boolean, isAddressKnown boolean, hasSecondFactor boolean
-- Pages: at most 64
/* auth.findLoginAccount */
SELECT
  id,
  username,
  name,
  email,
  role,
  is_verified AS "isVerified",
  password_hash AS "passwordHash",
  suspended_at IS NOT NULL AS "isSuspended",
  needs_reset AS "needsReset",
  EXISTS (
    SELECT
    FROM
      known_addresses k
    WHERE
      k.user_id = u.id
      AND k.address = $1
      AND k.last_used_at > now() - make_interval(days => $2)
  ) AS "isAddressKnown",
  EXISTS (
    SELECT
    FROM
      second_factors f
    WHERE
      f.user_id = u.id
      AND f.confirmed_at IS NOT NULL
  ) AS "hasSecondFactor"
FROM
  users u
WHERE
  u.id = (
    SELECT
      user_id
    FROM
      identities
    WHERE
      issuer = $3
      AND subject = $4
  );

-- Returns: id integer, username character varying, name character varying, email character varying, role role, isVerified boolean, passwordHash text, isSuspended boolean, needsReset boolean, isAddressKnown boolean, hasSecondFactor boolean
-- Pages: at most 64
/* auth.findLoginAccount */
SELECT
  id,
  username,
  name,
  email,
  role,
  is_verified AS "isVerified",
  password_hash AS "passwordHash",
  suspended_at IS NOT NULL AS "isSuspended",
  needs_reset AS "needsReset",
  EXISTS (
    SELECT
    FROM
      known_addresses k
    WHERE
      k.user_id = u.id
      AND k.address = $1
      AND k.last_used_at > now() - make_interval(days => $2)
  ) AS "isAddressKnown",
  EXISTS (
    SELECT
    FROM
      second_factors f
    WHERE
      f.user_id = u.id
      AND f.confirmed_at IS NOT NULL
  ) AS "hasSecondFactor"
FROM
  users u
WHERE
  username = $3
  OR email = $4;

-- Returns: userId integer, sealed text
-- Pages: at most 64
/* auth.findSecretsToSeal */
SELECT
  user_id AS "userId",
  secret AS sealed
FROM
  second_factors
WHERE
  ctid >= $1::tid
  AND ctid < $2::tid
  AND NOT starts_with(secret, $3);

-- Returns: id integer, username character varying, name character varying, email character varying, role role, isVerified boolean, sessionId uuid
-- Pages: at most 64
/* auth.findSessionUsers */
SELECT
  u.id,
  u.username,
  u.name,
  u.email,
  u.role,
  u.is_verified AS "isVerified",
  s.id AS "sessionId"
FROM
  sessions s,
  users u
WHERE
  s.id = ANY ($1::uuid[])
  AND u.id = s.user_id
  AND u.suspended_at IS NULL
  AND s.expires_at > now()
  AND s.created_at > now() - make_interval(secs => 7776000);

-- Returns: id integer, provider character varying, sealed text
-- Pages: at most 64
/* auth.findTokensToSeal */
SELECT
  id,
  provider,
  token AS sealed
FROM
  identities
WHERE
  ctid >= $1::tid
  AND ctid < $2::tid
  AND NOT starts_with(token, $3);

-- Pages: at most 64
/* auth.issueUndoLink */
INSERT INTO
  email_changes (id, user_id, old_email, new_email, key_id, expires_at)
VALUES
  ($1::uuid, $2, $3, $4, $5, clock_timestamp() + make_interval(days => $6));

-- Returns: id bigint, kind consent_kind, action consent_action, version character varying, createdAt timestamp with time zone
-- Pages: at most 64
/* auth.listConsents */
SELECT
  c.*
FROM
  unnest(enum_range(NULL::consent_kind)) k,
  unnest(enum_range(NULL::consent_action)) a,
  LATERAL (
    SELECT
      id,
      kind,
      action,
      version,
      created_at AS "createdAt"
    FROM
      consents
    WHERE
      user_id = $1
      AND kind = k
      AND action = a
    ORDER BY
      id DESC
    LIMIT
      1
  ) c
ORDER BY
  c.id;

-- Returns: id uuid, userAgent character varying, ip character varying, createdAt timestamp with time zone, lastUsedAt timestamp with time zone, methods text[], authenticatedAt timestamp with time zone
-- Pages: at most 256
/* auth.listSessions */
SELECT
  s.id,
  s.user_agent AS "userAgent",
  s.ip,
  s.created_at AS "createdAt",
  s.last_used_at AS "lastUsedAt",
  s.methods,
  coalesce(s.confirmed_at, s.created_at) AS "authenticatedAt"
FROM
  sessions s
  JOIN users u ON u.id = s.user_id
  AND u.suspended_at IS NULL
  AND s.expires_at > now()
  AND s.created_at > now() - make_interval(secs => 7776000)
WHERE
  s.user_id = $1
  AND (s.created_at, s.id) < ($2::timestamptz, $3::uuid)
ORDER BY
  s.created_at DESC,
  s.id DESC
LIMIT
  $4;

-- Returns: key character varying, recent integer, delaySeconds integer, remaining double precision
-- Pages: at most 64
-- Changes no index: login_failures
/* auth.lockFailures */
INSERT INTO
  login_failures AS f (key, failed_at)
SELECT
  key,
  '{}'
FROM
  unnest($1::text[]) AS k (key)
ORDER BY
  key
ON CONFLICT (key) DO UPDATE
SET
  delay_seconds = f.delay_seconds
RETURNING
  key,
  cardinality(
    ARRAY(
      SELECT
        t
      FROM
        unnest(failed_at) t
      WHERE
        t > clock_timestamp() - make_interval(secs => $2)
      ORDER BY
        t DESC
      LIMIT
        $3
    )
  ) AS recent,
  delay_seconds AS "delaySeconds",
  extract(
    epoch
    FROM
      locked_until - clock_timestamp()
  )::float8 AS remaining;

-- Returns: pg_advisory_xact_lock text
-- Pages: at most 0
/* auth.lockNames */
SELECT
  pg_advisory_xact_lock($1::int, hash)::text
FROM
  (
    SELECT
      hashtext (name) AS hash
    FROM
      unnest($2::text[]) name
    ORDER BY
      1
  ) ordered;

-- Returns: delay double precision
-- Pages: at most 64
/* auth.loginDelay */
SELECT
  extract(
    epoch
    FROM
      max(locked_until) - clock_timestamp()
  )::float8 AS delay
FROM
  login_failures
WHERE
  key = ANY ($1)
  AND locked_until > clock_timestamp();

-- Pages: at most 64
/* auth.queueRevocations */
INSERT INTO
  outbox (job)
SELECT
  jsonb_build_object(
    'identifier',
    $1::text,
    'max_attempts',
    $2::int,
    'payload',
    jsonb_build_object('provider', provider, 'token', token)
  )
FROM
  identities
WHERE
  user_id = $3
  AND token IS NOT NULL
  AND created_at >= $4;

-- Pages: at most 64
/* auth.queueRevocations */
INSERT INTO
  outbox (job)
SELECT
  jsonb_build_object(
    'identifier',
    $1::text,
    'max_attempts',
    $2::int,
    'payload',
    jsonb_build_object('provider', provider, 'token', token)
  )
FROM
  identities
WHERE
  user_id = $3
  AND token IS NOT NULL
  AND id = $4;

-- Pages: at most 128
-- Changes no index: known_addresses, users
/* auth.recordLogin */
WITH
  counter AS (
    SELECT
      key,
      locked_until
    FROM
      login_failures
    WHERE
      key = ANY ($1)
    ORDER BY
      key
    FOR UPDATE
  ),
  logged_in AS (
    UPDATE users
    SET
      last_login_at = now(),
      language = CASE
        WHEN has_chosen_language THEN language
        ELSE $2::language
      END,
      password_hash = $3
    WHERE
      id = $4
      AND password_hash IS NOT DISTINCT FROM $5
      AND suspended_at IS NULL
      AND NOT EXISTS (
        SELECT
        FROM
          counter
        WHERE
          key = ANY ($6)
          AND locked_until > clock_timestamp()
      )
    RETURNING
      id
  ),
  known AS (
    INSERT INTO
      known_addresses (user_id, address)
    SELECT
      id,
      $7
    FROM
      logged_in
    ON CONFLICT (user_id, address) DO UPDATE
    SET
      last_used_at = now()
  ),
  cleared AS (
    DELETE FROM login_failures f USING logged_in,
    counter c
    WHERE
      f.key = c.key
  )
INSERT INTO
  sessions (id, user_id, rotated_at, user_agent, ip, expires_at, methods)
SELECT
  $8::uuid,
  id,
  '{}',
  $9,
  $10,
  now() + make_interval(secs => $11),
  $12::text[]
FROM
  logged_in;

-- Returns: count integer, refreshExpiresIn double precision
-- Pages: at most 64
-- Changes no index: sessions
/* auth.refreshSession */
UPDATE sessions s
SET
  refresh_count = refresh_count + CASE
    WHEN refresh_count = $1 THEN 1
    ELSE 0
  END,
  rotated_at = CASE
    WHEN refresh_count = $2 THEN rotated_at[width_bucket(clock_timestamp() - make_interval(secs => 10), rotated_at) + 1:] || clock_timestamp()
    ELSE rotated_at
  END,
  last_used_at = clock_timestamp(),
  expires_at = least(clock_timestamp() + make_interval(secs => 1209600), s.created_at + make_interval(secs => 7776000))
FROM
  users u
WHERE
  s.id = $3::uuid
  AND s.user_id = $4
  AND u.id = s.user_id
  AND u.suspended_at IS NULL
  AND s.expires_at > now()
  AND s.created_at > now() - make_interval(secs => 7776000)
  AND (
    s.refresh_count = $5
    OR s.refresh_count > $6
    AND s.rotated_at[cardinality(s.rotated_at) - (s.refresh_count - $7) + 1] > clock_timestamp() - make_interval(secs => 10)
  )
RETURNING
  s.refresh_count AS count,
  least(
    1209600,
    extract(
      epoch
      FROM
        s.created_at + make_interval(secs => 7776000) - clock_timestamp()
    )
  )::float8 AS "refreshExpiresIn";
