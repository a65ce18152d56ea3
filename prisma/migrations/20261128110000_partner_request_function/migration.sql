-- What a change of a request is followed by, and a new request with all of it: steps that are one round trip.

-- Adds notifications and wakes up the streams of their users: last in a transaction, as the lock of a user's count lasts until the
-- commit. Users who were deleted meanwhile are left out. Ids are drawn under it, so that the ids of one user grow in commit order. Counts are locked in the order of the users, to
-- avoid deadlocks.
CREATE FUNCTION "notify"(
  "users" integer[], "kinds" notification_kind[], "requests" bigint[], "posts" bigint[], "searches" integer[]
) RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO notification_counts AS c (user_id, unread)
  SELECT user_id, count(*) FROM unnest(users) user_id WHERE (SELECT true FROM users WHERE id = user_id)
  GROUP BY user_id ORDER BY user_id
  ON CONFLICT (user_id) DO UPDATE SET unread = c.unread + excluded.unread;
  WITH added AS (
    INSERT INTO unread_notifications (user_id, kind, partner_request_id, post_id, saved_search_id, created_at)
    SELECT n.*, clock_timestamp() FROM unnest(users, kinds, requests, posts, searches) n(user_id)
    WHERE (SELECT true FROM users WHERE id = n.user_id)
    RETURNING user_id, id
  )
  INSERT INTO outbox (user_id, notification_id) SELECT user_id, id FROM added;
END $$;

-- Enqueues an email to each of the users that may get it: the address is verified, the account is not suspended, its user gets
-- emails of the topic, and the address has had fewer than `cap` of the purpose within an hour. Concurrent transactions wait at the
-- row of an address until this one ends, so that they cannot exceed the cap together; rows are locked in the order of the users, to
-- avoid deadlocks. Returns how many were enqueued.
CREATE FUNCTION "add_unrequested_mails"(
  "about" mail_purpose, "wanted" mail_topic, "cap" integer, "mail" jsonb, "users" integer[], "payloads" jsonb[]
) RETURNS integer LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  added integer;
BEGIN
  WITH reachable AS MATERIALIZED (
    SELECT u.id, u.email, recipient.payload
    FROM unnest(users, payloads) AS recipient(id, payload) JOIN users u USING (id)
    WHERE u.is_verified AND u.suspended_at IS NULL AND CASE wanted
      WHEN 'saved_search_match' THEN u.has_match_mails ELSE coalesce(wanted <> ALL (u.muted_mails), true) END
    ORDER BY u.id + 0
  ), counted AS (
    INSERT INTO mail_sends AS m (purpose, email, sent_at)
    SELECT about, email, ARRAY[clock_timestamp()] FROM reachable
    ON CONFLICT (purpose, email) DO UPDATE SET updated_at = clock_timestamp(),
      sent_at = ARRAY(SELECT t FROM unnest(m.sent_at) t WHERE t > clock_timestamp() - interval '1 hour') || clock_timestamp()
      WHERE (SELECT count(*) FROM unnest(m.sent_at) t WHERE t > clock_timestamp() - interval '1 hour') < cap
    RETURNING email
  )
  INSERT INTO outbox (mail)
  SELECT mail || payload || jsonb_build_object('user_id', id, 'idempotency_key', gen_random_uuid())
  FROM reachable JOIN counted USING (email);
  GET DIAGNOSTICS added = ROW_COUNT;
  RETURN added;
END $$;

-- The partition of a day: `idempotency_keys` has three, used in turns. Those of today and yesterday have all keys of the last 24
-- hours; the third one is emptied before it is tomorrow's. The day is that of the statement, in UTC, by the clock of the database.
CREATE FUNCTION "idempotency_slot"("days_ago" integer) RETURNS smallint LANGUAGE sql STABLE AS $$
  SELECT mod((statement_timestamp() AT TIME ZONE 'UTC')::date - date '1970-01-01' - days_ago, 3)::smallint
$$;

-- The stored response to a key, if it was used within 24 hours. Waits for a concurrent request with the key, with a lock of its own:
-- two requests before and after midnight have their rows in different partitions, where no unique index settles which is the first.
CREATE FUNCTION "stored_response"(
  "of_scope" text, "of_key" text, OUT "request_hash" text, OUT "body" jsonb
) LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  -- The first key is one of `advisoryLocks` of the service, as below.
  PERFORM pg_advisory_xact_lock(1768187253, hashtext(of_scope || ' ' || of_key));
  SELECT k.request_hash, k.body INTO request_hash, body FROM idempotency_keys k
  WHERE day_slot IN (idempotency_slot(0), idempotency_slot(1)) AND scope = of_scope AND key = of_key
    AND created_at > now() - interval '24 hours';
END $$;

-- Stores the response to a key. It replaces one that has expired, where the partition was not emptied in time.
CREATE FUNCTION "store_response"(
  "of_scope" text, "of_key" text, "hash" text, "response" jsonb
) RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO idempotency_keys (day_slot, scope, key, request_hash, body)
  VALUES (idempotency_slot(0), of_scope, of_key, hash, response)
  ON CONFLICT (scope, key, day_slot) DO UPDATE
    SET request_hash = excluded.request_hash, body = excluded.body, created_at = excluded.created_at;
END $$;

-- Sends a request to the store that wrote a post, once for each key; without a key, `of_scope` is null.
--   refusal: why none is sent, a code of the API; null where `request` is the request
--   wait: seconds until a quota has room
--   replayed_in: the language of the response that was stored
-- `quota` is that of the sender within 24 hours, and 0 for no quotas; `post_quota` that of the sender for the post, where withdrawn
-- requests count, too, as each of them notified the receiver. At most `hourly_mails` emails are sent about those.
CREATE FUNCTION "send_partner_request"(
  "of_scope" text, "of_key" text, "hashes" text[], "language" text,
  "sending_user" integer, "wanted_post" bigint, "words" text, "quota" integer, "post_quota" integer,
  "mail" jsonb, "mail_cap" integer, "hourly_mails" integer,
  OUT "refusal" text, OUT "wait" double precision, OUT "replayed_in" text, OUT "request" jsonb
) LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  sender integer := (SELECT id FROM stores WHERE owner_id = sending_user);
  -- That of a post never changes.
  receiver integer := (SELECT store_id FROM posts WHERE id = wanted_post);
  is_sender_open boolean := false;
  stored record;
  store record;
  receiving record;
  post record;
  created record;
BEGIN
  IF of_scope IS NOT NULL THEN
    SELECT * INTO stored FROM stored_response(of_scope, of_key);
    IF stored.body IS NOT NULL THEN
      IF stored.request_hash <> ALL (hashes) THEN refusal := 'idempotency_key_reused'; RETURN; END IF;
      request := stored.body -> 'data';
      replayed_in := stored.body ->> 'language';
      RETURN;
    END IF;
  END IF;

  -- Before all rows, and before the statements that count, which are to see what was committed while this one waited.
  PERFORM pg_advisory_xact_lock(1903521652, sender);
  -- Both stores and then the post are locked against being closed, suspended or deleted; stores in id order, to avoid deadlocks.
  FOR store IN
    SELECT id, owner_id, name FROM stores
    WHERE id IN (sender, receiver) AND closed_at IS NULL AND suspended_at IS NULL AND owner_id IS NOT NULL
    ORDER BY id + 0 FOR SHARE
  LOOP
    IF store.id = sender THEN is_sender_open := true; END IF;
    IF store.id = receiver THEN receiving := store; END IF;
  END LOOP;
  IF NOT is_sender_open THEN refusal := 'store_required'; RETURN; END IF;
  SELECT title, closed_at IS NULL AND (closes_on IS NULL OR closes_on >= (now() AT TIME ZONE 'Asia/Seoul')::date) AS is_open
  INTO post FROM posts WHERE id = wanted_post AND is_visible FOR SHARE;
  IF receiving IS NULL OR post IS NULL THEN refusal := 'post_not_found'; RETURN; END IF;
  IF sender = receiver THEN refusal := 'own_post'; RETURN; END IF;
  IF NOT post.is_open THEN refusal := 'post_closed'; RETURN; END IF;

  -- What `ON CONFLICT` rejects below has already taken an id.
  IF EXISTS (
    SELECT FROM partner_requests
    WHERE sender_store_id = sender AND post_id = wanted_post AND status IN ('requested', 'accepted')
  ) THEN refusal := 'already_requested'; RETURN; END IF;
  IF quota > 0 THEN
    -- The oldest row of those that fill a quota. Reading it ends there, however many rows there are.
    wait := extract(epoch FROM interval '24 hours' + greatest(
      (SELECT created_at FROM partner_requests WHERE sender_store_id = sender AND created_at > now() - interval '24 hours'
        ORDER BY created_at DESC OFFSET quota - 1 LIMIT 1),
      (SELECT created_at FROM partner_requests
        WHERE sender_store_id = sender AND post_id = wanted_post AND created_at > now() - interval '24 hours'
        ORDER BY created_at DESC OFFSET post_quota - 1 LIMIT 1)) - now());
    IF wait IS NOT NULL THEN refusal := 'quota_exceeded'; RETURN; END IF;
  END IF;
  INSERT INTO partner_requests (post_id, sender_store_id, receiver_store_id, message)
  VALUES (wanted_post, sender, receiver, words)
  ON CONFLICT (sender_store_id, post_id) WHERE status IN ('requested', 'accepted') DO NOTHING
  RETURNING id, created_at INTO created;
  IF created IS NULL THEN refusal := 'already_requested'; RETURN; END IF;

  IF hourly_mails >= (
    SELECT count(*) FROM partner_requests
    WHERE sender_store_id = sender AND post_id = wanted_post AND created_at > now() - interval '1 hour'
  ) THEN
    PERFORM add_unrequested_mails('partner_request', 'partner_request_received', mail_cap, mail,
      ARRAY[receiving.owner_id], ARRAY[jsonb_build_object('request_id', created.id)]);
  END IF;
  PERFORM notify(ARRAY[receiving.owner_id], ARRAY['partner_request_received'::notification_kind], ARRAY[created.id], '{}', '{}');
  request := jsonb_build_object('box', 'sent', 'id', created.id, 'postId', wanted_post, 'postTitle', post.title,
    'status', 'requested', 'message', words, 'createdAt', created.created_at, 'updatedAt', created.created_at,
    'receiverStoreId', receiver, 'receiverStoreName', receiving.name);
  IF of_scope IS NOT NULL THEN
    PERFORM store_response(of_scope, of_key, hashes[1], jsonb_build_object('data', request, 'language', language));
  END IF;
END $$;
