-- accounts/repository: findAbandoned
-- Columns: email, id, isVerified
-- Pages: at most 256
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

-- consents/repository: ask
-- Columns: givenAt, language, version
-- Pages: at most 64
SELECT
  u.language,
  c.version,
  c.created_at AS "givenAt"
FROM
  users u,
  LATERAL (
    SELECT
      version,
      created_at
    FROM
      consents
    WHERE
      user_id = u.id
      AND kind = 'marketing'
      AND action = 'given'
    ORDER BY
      id DESC
    LIMIT
      1
  ) c
WHERE
  u.id = $1
  AND u.is_verified
  AND u.suspended_at IS NULL
  AND u.marketing_asked_at < now() - interval '23 months'
FOR NO KEY UPDATE OF
  u SKIP LOCKED;

-- consents/repository: askAgain
-- Columns: id
-- Pages: at most 64
SELECT
  u.id
FROM
  users u
WHERE
  u.is_verified
  AND u.suspended_at IS NULL
  AND u.marketing_asked_at < now() - interval '23 months'
ORDER BY
  u.marketing_asked_at
LIMIT
  $1;

-- consents/repository: latest
-- Columns: action, createdAt, id, kind, version
-- Pages: at most 64
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

-- providers/repository: queueRevocations
-- Pages: at most 64
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
  AND true;

-- sessions/login-repository: accountWhere
-- Columns: email, hasSecondFactor, id, isAddressKnown, isSuspended, isVerified, name, needsReset, passwordHash, role, username
-- Pages: at most 64
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

-- sessions/login-repository: accountWhere
-- Columns: email, hasSecondFactor, id, isAddressKnown, isSuspended, isVerified, name, needsReset, passwordHash, role, username
-- Pages: at most 64
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

-- sessions/login-repository: accountWhere
-- Columns: email, hasSecondFactor, id, isAddressKnown, isSuspended, isVerified, name, needsReset, passwordHash, role, username
-- Pages: at most 64
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

-- sessions/login-repository: countFailure
-- Pages: at most 64
-- Changes no index: login_failures
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

-- sessions/login-repository: createLoginRepository
-- Pages: at most 64
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

-- sessions/login-repository: delay
-- Columns: delay
-- Pages: at most 64
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

-- sessions/login-repository: lockCounters
-- Columns: delaySeconds, key, recent, remaining
-- Pages: at most 64
-- Changes no index: login_failures
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

-- sessions/login-repository: record
-- Pages: at most 128
-- Changes no index: known_addresses, users
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

-- sessions/repository: attempt
-- Columns: attempts, data, id, keyId, sessionId, userId
-- Pages: at most 64
-- Changes no index: login_flows
UPDATE login_flows
SET
  attempts = attempts + 1
WHERE
  id = $1::uuid
  AND key_id = $2
  AND kind = $3::login_flow_kind
  AND expires_at > now()
  AND attempts < $4
RETURNING
  id,
  key_id AS "keyId",
  user_id AS "userId",
  session_id AS "sessionId",
  data,
  attempts;

-- sessions/repository: begin
-- Pages: at most 64
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

-- sessions/repository: confirm
-- Columns: confirmedAt
-- Pages: at most 64
-- Changes no index: sessions
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

-- sessions/repository: confirmation
-- Columns: isRecent, methods, needsReset
-- Pages: at most 64
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

-- sessions/repository: createSessionRepository
-- Columns: email, id, isVerified, name, role, sessionId, username
-- Pages: at most 64
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

-- sessions/repository: end
-- Columns: attempts, data, id, keyId, sessionId, userId
-- Pages: at most 64
DELETE FROM login_flows
WHERE
  id = $1::uuid
  AND key_id = $2
  AND kind = $3::login_flow_kind
  AND expires_at > now()
RETURNING
  id,
  key_id AS "keyId",
  user_id AS "userId",
  session_id AS "sessionId",
  data,
  attempts;

-- sessions/repository: find
-- Columns: attempts, data, id, keyId, sessionId, userId
-- Pages: at most 64
SELECT
  id,
  key_id AS "keyId",
  user_id AS "userId",
  session_id AS "sessionId",
  data,
  attempts
FROM
  login_flows
WHERE
  id = $1::uuid
  AND key_id = $2
  AND kind = $3::login_flow_kind
  AND expires_at > now();

-- sessions/repository: findLive
-- Columns: id
-- Pages: at most 256
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

-- sessions/repository: list
-- Columns: authenticatedAt, createdAt, id, ip, lastUsedAt, methods, userAgent
-- Pages: at most 128
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

-- sessions/repository: refresh
-- Columns: count, refreshExpiresIn
-- Pages: at most 64
-- Changes no index: sessions
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
