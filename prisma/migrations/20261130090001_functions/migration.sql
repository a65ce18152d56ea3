-- Functions and triggers, and the indexes that use a function.

-- ACCOUNTS

-- A suspension ends the sessions of the account permanently: lifting it restores none of them. It also ends the push subscriptions of
-- sessions that expired.
CREATE FUNCTION "end_suspended_sessions"() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  DELETE FROM sessions WHERE user_id = NEW.id;
  DELETE FROM push_subscriptions WHERE user_id = NEW.id;
  RETURN NULL;
END $$;

CREATE TRIGGER "users_suspended" AFTER UPDATE OF "suspended_at" ON "users"
  FOR EACH ROW WHEN (NEW."suspended_at" IS NOT NULL) EXECUTE FUNCTION "end_suspended_sessions"();

-- A push subscription ends with its session, however that is ended. One that expired is deleted by the clean-up and ends none.
CREATE FUNCTION "end_push_subscriptions"() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  DELETE FROM push_subscriptions WHERE user_id = OLD.user_id AND session_id = OLD.id;
  RETURN NULL;
END $$;

CREATE TRIGGER "sessions_ended" AFTER DELETE ON "sessions"
  FOR EACH ROW WHEN (OLD."expires_at" > now()) EXECUTE FUNCTION "end_push_subscriptions"();

-- At most 100 live sessions of a user. Logins of one user lock its row, so each sees the sessions of those before.
CREATE FUNCTION "limit_sessions"() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  DELETE FROM sessions WHERE user_id = NEW.user_id AND id IN (
    SELECT id FROM sessions WHERE user_id = NEW.user_id AND expires_at > now()
    ORDER BY last_used_at DESC, id OFFSET 100 LIMIT 1000);
  RETURN NULL;
END $$;

CREATE TRIGGER "sessions_limited" AFTER INSERT ON "sessions"
  FOR EACH ROW EXECUTE FUNCTION "limit_sessions"();

-- An answer is proof, so it is never changed.
CREATE FUNCTION "reject_consent_change"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'consents are never changed: insert a new row';
END $$;

CREATE TRIGGER "consents_unchanged" BEFORE UPDATE ON "consents"
  FOR EACH STATEMENT EXECUTE FUNCTION "reject_consent_change"();

CREATE FUNCTION "set_marketing_asked_at"() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  UPDATE users SET marketing_asked_at = CASE WHEN NEW.action <> 'withdrawn' THEN NEW.created_at END
  WHERE id = NEW.user_id;
  RETURN NULL;
END $$;

CREATE TRIGGER "consents_marketing" AFTER INSERT ON "consents"
  FOR EACH ROW WHEN (NEW."kind" = 'marketing') EXECUTE FUNCTION "set_marketing_asked_at"();

-- STORES

-- `stores.suspended_at` is what readers look at: the suspension of the owner, else `hidden_at`. Both functions compute it from the
-- row that they have locked. A suspension updates the user before the store; whichever of the two updates of the store comes last
-- sees what the other one wrote, in the user or in the store. `users_suspended_store` fires after `users_suspended`.
CREATE FUNCTION "suspend_store"() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  UPDATE stores SET suspended_at = coalesce(NEW.suspended_at, hidden_at) WHERE owner_id = NEW.id;
  RETURN NULL;
END $$;

CREATE TRIGGER "users_suspended_store" AFTER UPDATE OF "suspended_at" ON "users"
  FOR EACH ROW WHEN (OLD."suspended_at" IS DISTINCT FROM NEW."suspended_at") EXECUTE FUNCTION "suspend_store"();

CREATE FUNCTION "hide_store"() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  NEW.suspended_at := coalesce((SELECT suspended_at FROM users WHERE id = NEW.owner_id), NEW.hidden_at);
  RETURN NEW;
END $$;

CREATE TRIGGER "stores_hidden" BEFORE UPDATE OF "hidden_at" ON "stores"
  FOR EACH ROW EXECUTE FUNCTION "hide_store"();

-- An open store has a category. Checked at the end of the transaction, with the store locked, so that two transactions that delete
-- one category each cannot leave none.
CREATE FUNCTION "check_store_has_category"() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  checked integer;
BEGIN
  IF TG_TABLE_NAME = 'stores' THEN checked := NEW.id; ELSE checked := OLD.store_id; END IF;
  PERFORM FROM stores WHERE id = checked AND closed_at IS NULL FOR NO KEY UPDATE;
  IF FOUND AND NOT EXISTS (SELECT FROM store_category_links WHERE store_id = checked) THEN
    RAISE EXCEPTION 'store % has no category', checked
      USING ERRCODE = 'check_violation', CONSTRAINT = 'stores_category_check';
  END IF;
  RETURN NULL;
END $$;

CREATE CONSTRAINT TRIGGER "stores_category_check" AFTER INSERT ON "stores"
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION "check_store_has_category"();

CREATE CONSTRAINT TRIGGER "store_category_links_category_check" AFTER DELETE OR UPDATE OF "store_id" ON "store_category_links"
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION "check_store_has_category"();

-- Where others see a store, with longitude as x and latitude as y: rounded to about 100 m, unless it shows its exact location. Null
-- without a location. It is not strict, because PostgreSQL would not inline it then.
CREATE FUNCTION "store_place"(latitude double precision, longitude double precision, show_exact boolean)
RETURNS point LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CASE WHEN show_exact THEN point(longitude, latitude)
    ELSE point(round(longitude * 1000) / 1000, round(latitude * 1000) / 1000) END;

-- A place, with longitude as x and latitude as y, on a map where a small circle stays a circle; in degrees of the equator. The
-- index of places finds the nearest ones there, because PostgreSQL's own points are flat.
CREATE FUNCTION "mercator"(place point) RETURNS point LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN point(place[0], degrees(asinh(tan(radians(place[1])))));

-- With all that the search reads of a candidate, so that it reads no row.
CREATE INDEX "stores_place_idx" ON "stores"
  USING gist (mercator(store_place("latitude", "longitude", "show_exact_location")))
  INCLUDE ("id", "latitude", "longitude", "show_exact_location")
  WHERE "closed_at" IS NULL AND "suspended_at" IS NULL AND "latitude" IS NOT NULL;

-- IMAGES

-- Unlinks the images that posts no longer show, whatever writes the posts; the clean-up then looks at each of them. An image is
-- locked before its link is deleted, as by a deletion of the image, whose foreign key reads the links. The plan is kept for later
-- changes of one post: without these settings it would read all images when the first change is one of thousands.
CREATE FUNCTION "unlink_images"() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT
  SET enable_hashjoin = off SET enable_mergejoin = off AS $$
BEGIN
  WITH unused AS (
    SELECT l.post_id, l.image_id
    FROM changed c JOIN post_images l ON l.post_id = c.id JOIN images i ON i.id = l.image_id
    WHERE c.deleted_at IS NOT NULL OR NOT (i.key = ANY (c.images))
    ORDER BY l.image_id FOR NO KEY UPDATE OF i
  ), unlinked AS (
    DELETE FROM post_images l USING unused u WHERE l.post_id = u.post_id AND l.image_id = u.image_id
    RETURNING l.image_id
  )
  UPDATE images SET check_after = greatest(now(), created_at + interval '24 hours')
  FROM (SELECT DISTINCT image_id FROM unlinked) u WHERE images.id = u.image_id;
  RETURN NULL;
END $$;

CREATE TRIGGER "posts_images" AFTER UPDATE ON "posts" REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION "unlink_images"();

-- PARTNER REQUESTS

-- A pending request is accepted, declined or withdrawn, and an accepted one can be ended. Nothing follows after that.
CREATE FUNCTION "check_partner_request_transition"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.status <> NEW.status AND NOT (
    OLD.status = 'requested' AND NEW.status IN ('accepted', 'declined', 'withdrawn')
    OR OLD.status = 'accepted' AND NEW.status = 'ended'
  ) THEN
    RAISE EXCEPTION 'a partner request cannot go from % to %', OLD.status, NEW.status
      USING ERRCODE = 'check_violation', CONSTRAINT = 'partner_requests_transition';
  END IF;
  RETURN NEW;
END $$;

CREATE TRIGGER "partner_requests_transition" BEFORE UPDATE OF "status" ON "partner_requests"
  FOR EACH ROW EXECUTE FUNCTION "check_partner_request_transition"();

-- NOTIFICATIONS

-- Clients and streams continue after the largest id that they have seen. A failover to an asynchronous standby and a restore to a
-- point in time lose rows, and would use their ids again. Both begin a new timeline of the WAL: the first notification there skips
-- more ids than can be lost. The last value of the sequence is the timeline of the ids.
CREATE SEQUENCE "notifications_timeline";

CREATE FUNCTION "current_timeline"() RETURNS bigint LANGUAGE sql VOLATILE AS $$
  SELECT ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::bigint
$$;

SELECT setval('notifications_timeline', current_timeline());

CREATE FUNCTION "skip_lost_notification_ids"() RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  -- Of concurrent calls, one skips. The key is one of `advisoryLocks` of the service.
  PERFORM pg_advisory_xact_lock(1953066341);
  IF current_timeline() <> pg_sequence_last_value('notifications_timeline') THEN
    -- Further on each timeline, because a second failover may lose what was skipped after the first.
    PERFORM setval('notifications_id_seq', nextval('notifications_id_seq') + 1000000 * current_timeline());
    PERFORM setval('notifications_timeline', current_timeline());
  END IF;
END $$;

-- What reads and changes notifications of a user does so in statements that name the user and no other table, so that each of them
-- can run elsewhere: see deploy/citus. What they return does not follow the table, so that a migration that adds a column to it
-- disturbs no call that waits for it.

-- A page, newest first. Where `wanted_read` is null, it has read and unread ones.
CREATE FUNCTION "notification_page"("of_user" integer, "before_id" bigint, "size" integer, "wanted_read" boolean)
RETURNS TABLE (
  "id" bigint, "user_id" integer, "kind" notification_kind, "partner_request_id" bigint, "post_id" bigint,
  "saved_search_id" integer, "matches" integer, "is_read" boolean, "created_at" timestamptz
) LANGUAGE plpgsql STABLE ROWS 20 SET search_path FROM CURRENT AS $$
#variable_conflict use_column
BEGIN
  IF wanted_read IS NULL THEN
    RETURN QUERY SELECT id, user_id, kind, partner_request_id, post_id, saved_search_id, matches, is_read, created_at
      FROM notifications WHERE user_id = of_user AND id < before_id ORDER BY id DESC LIMIT size;
  ELSE
    RETURN QUERY SELECT id, user_id, kind, partner_request_id, post_id, saved_search_id, matches, is_read, created_at
      FROM notifications WHERE user_id = of_user AND is_read = wanted_read AND id < before_id ORDER BY id DESC LIMIT size;
  END IF;
END $$;

-- Those after one of them, oldest first.
CREATE FUNCTION "notifications_after"("of_user" integer, "after_id" bigint, "size" integer)
RETURNS TABLE (
  "id" bigint, "user_id" integer, "kind" notification_kind, "partner_request_id" bigint, "post_id" bigint,
  "saved_search_id" integer, "matches" integer, "is_read" boolean, "created_at" timestamptz
) LANGUAGE plpgsql STABLE ROWS 20 SET search_path FROM CURRENT AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY SELECT id, user_id, kind, partner_request_id, post_id, saved_search_id, matches, is_read, created_at
    FROM notifications WHERE user_id = of_user AND id > after_id ORDER BY id LIMIT size;
END $$;

-- Marks notifications as read: those of `ids`, or where it is null up to `size` ones after `after_id`, up to `up_to_id`. `last` is
-- the largest id of a full batch, null when there are no more. The lock of the count comes first, so that concurrent batches of a
-- user cannot deadlock. A full batch is one that was found full, whatever others mark before the lock.
CREATE FUNCTION "mark_notifications_read"(
  "of_user" integer, "ids" bigint[], "after_id" bigint, "up_to_id" bigint, "size" integer,
  OUT "updated" integer, OUT "last" bigint
) LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  updated := 0;
  IF ids IS NULL THEN
    SELECT id INTO last FROM notifications
    WHERE user_id = of_user AND NOT is_read AND id > after_id AND id <= up_to_id ORDER BY id OFFSET size - 1 LIMIT 1;
  END IF;
  PERFORM FROM notification_counts WHERE user_id = of_user AND unread > 0 FOR NO KEY UPDATE;
  IF NOT FOUND THEN RETURN; END IF;
  IF ids IS NULL THEN
    UPDATE notifications SET is_read = true
    WHERE user_id = of_user AND NOT is_read AND id > after_id AND id <= coalesce(last, up_to_id);
  ELSE
    UPDATE notifications SET is_read = true WHERE user_id = of_user AND NOT is_read AND id = ANY (ids);
  END IF;
  GET DIAGNOSTICS updated = ROW_COUNT;
  IF updated = 0 THEN RETURN; END IF;
  UPDATE notification_counts SET unread = unread - updated WHERE user_id = of_user;
  INSERT INTO outbox (user_id) VALUES (of_user);
END $$;

-- Part of the clean-up: deletes up to 200 notifications that are older than `ttl` seconds, of one table with notifications; those
-- that were read, or unread ones of saved searches, whose users are changed in their order, to avoid deadlocks. So few, because each
-- user is a statement, and may be on another server. Returns how many were found.
CREATE FUNCTION "delete_old_notifications"("part" regclass, "read_ones" boolean, "ttl" double precision)
RETURNS integer LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  found_users integer[];
  found_ids bigint[];
  old_user integer;
  old_ids bigint[];
  deleted integer;
BEGIN
  EXECUTE format(
    'SELECT array_agg(user_id), array_agg(id) FROM (
       SELECT user_id, id FROM %s WHERE %s AND created_at < now() - make_interval(secs => %L) LIMIT 200) old',
    part, CASE WHEN read_ones THEN 'is_read'
      ELSE $q$NOT is_read AND kind IN ('saved_search_match', 'saved_search_digest')$q$ END, ttl)
  INTO found_users, found_ids;
  FOR old_user, old_ids IN
    SELECT f.user_id, array_agg(f.id) FROM unnest(found_users, found_ids) f(user_id, id) GROUP BY f.user_id ORDER BY f.user_id
  LOOP
    IF NOT read_ones THEN PERFORM FROM notification_counts WHERE user_id = old_user FOR NO KEY UPDATE; END IF;
    DELETE FROM notifications WHERE user_id = old_user AND id = ANY (old_ids) AND is_read = read_ones;
    GET DIAGNOSTICS deleted = ROW_COUNT;
    IF NOT read_ones AND deleted > 0 THEN
      UPDATE notification_counts SET unread = unread - deleted WHERE user_id = old_user;
      INSERT INTO outbox (user_id) VALUES (old_user);
    END IF;
  END LOOP;
  RETURN coalesce(cardinality(found_ids), 0);
END $$;

-- SEARCH: substrings of any length in any script, without an extension of PostgreSQL.

-- Makes a text lower case. `lower(upper(x))` also makes the two lower-case sigmas one. Where the locale of the database is `C`,
-- which knows the case of ASCII only, a collation that knows more is taken.
DO $$
DECLARE
  collation_name text;
BEGIN
  IF lower('É') <> 'é' THEN
    SELECT collname INTO collation_name FROM pg_collation
    WHERE collnamespace = 'pg_catalog'::regnamespace AND collencoding IN (-1, pg_char_to_encoding('UTF8'))
      AND collname IN ('pg_c_utf8', 'C.utf8', 'C.UTF-8', 'en_US.utf8', 'und-x-icu')
    ORDER BY array_position(ARRAY['pg_c_utf8', 'C.utf8', 'C.UTF-8', 'en_US.utf8', 'und-x-icu'], collname::text) LIMIT 1;
  END IF;
  EXECUTE format(
    'CREATE FUNCTION search_fold(value text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS %L',
    format('SELECT lower(upper(value%s))', ' COLLATE pg_catalog.' || quote_ident(collation_name)));
END $$;

-- A lower-case text without the white space of Unicode, and without zero-width joiners and non-joiners outside emoji: they are not
-- seen. The final sigma becomes the other one, wherever the locale puts it.
CREATE FUNCTION "search_key"(value text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN translate(
    search_fold(CASE WHEN value ~ '[\u200c\u200d]' THEN regexp_replace(value,
      '(?<![\u2190-\u2bff\ufe0f\U0001f000-\U0001faff])[\u200c\u200d]+|[\u200c\u200d]+(?![\u2190-\u2bff\U0001f000-\U0001faff])',
      '', 'g') ELSE value END),
    U&'\03C2\0009\000A\000B\000C\000D\0020\0085\00A0\1680\2000\2001\2002\2003\2004\2005\2006\2007\2008\2009\200A\2028\2029\202F\205F\3000',
    U&'\03C3');

-- A text to search has a line feed between its fields, so that no query matches across them: none has a line feed left.
-- Computing it costs more than searching, so it is repeated only where a field changes, or where the text would.
CREATE FUNCTION "set_post_search_text"() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  IF TG_OP = 'INSERT' OR NEW.title <> OLD.title OR NEW.content <> OLD.content OR NEW.search_text <> OLD.search_text THEN
    NEW.search_text := search_key(NEW.title) || E'\n' || search_key(NEW.content);
  END IF;
  RETURN NEW;
END $$;

CREATE TRIGGER "posts_search_text" BEFORE INSERT OR UPDATE OF "title", "content", "search_text" ON "posts"
  FOR EACH ROW EXECUTE FUNCTION "set_post_search_text"();

CREATE FUNCTION "set_store_search_text"() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  IF TG_OP = 'INSERT' OR NEW.name <> OLD.name OR NEW.address <> OLD.address OR NEW.description <> OLD.description
      OR NEW.search_text <> OLD.search_text THEN
    NEW.search_text :=
      search_key(NEW.name) || E'\n' || search_key(NEW.address) || E'\n' || search_key(NEW.description);
  END IF;
  RETURN NEW;
END $$;

CREATE TRIGGER "stores_search_text" BEFORE INSERT OR UPDATE OF "name", "address", "description", "search_text" ON "stores"
  FOR EACH ROW EXECUTE FUNCTION "set_store_search_text"();

-- What the search looks up: pairs of neighbouring characters first, then single characters, hashed into 2^18 keys. GIN keeps its
-- keys when no row has them any more, so without a bound random texts make the index grow without end; two texts with one key cost
-- time only, because the text itself is compared, too. Hash indexes rely on the values of `hashtext`, so they do not change.
CREATE FUNCTION "search_keys"(folded text) RETURNS int[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT ARRAY(SELECT hashtext(a || b) & 262143 FROM unnest(singles, singles[2:]) AS pair (a, b) WHERE b IS NOT NULL)
    || ARRAY(SELECT hashtext(a) & 262143 FROM unnest(singles) AS single (a))
  FROM string_to_array(folded, NULL) AS singles
$$;

-- Without `fastupdate`, because a search would have to read all entries that are pending. The second index of each table is a
-- sample of the rows, which tells how frequent a text is. The divisor is prime, so that rows that were written in a pattern are all
-- in it.
CREATE INDEX "posts_search_keys_idx" ON "posts" USING gin (search_keys("search_text"))
  WITH (fastupdate = off) WHERE "is_visible";
CREATE INDEX "posts_search_keys_sample_idx" ON "posts" USING gin (search_keys("search_text"))
  WITH (fastupdate = off) WHERE "is_visible" AND "id" % 503 = 0;
CREATE INDEX "stores_search_keys_idx" ON "stores" USING gin (search_keys("search_text"))
  WITH (fastupdate = off) WHERE "closed_at" IS NULL;
CREATE INDEX "stores_search_keys_sample_idx" ON "stores" USING gin (search_keys("search_text"))
  WITH (fastupdate = off) WHERE "closed_at" IS NULL AND "id" % 503 = 0;

-- SAVED SEARCHES

-- The text as search compares it.
ALTER TABLE "saved_searches" ADD COLUMN "q_key" TEXT GENERATED ALWAYS AS (search_key("q")) STORED;

-- The degrees of latitude and longitude within which all places of a circle are, with longitude as x. For the index of searches.
CREATE FUNCTION "search_area"(latitude double precision, longitude double precision, radius integer)
RETURNS box LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN box(
    point(longitude - 0.000009 * radius / cos(radians(least(89.9, abs(latitude) + 0.000009 * radius))), latitude - 0.000009 * radius),
    point(longitude + 0.000009 * radius / cos(radians(least(89.9, abs(latitude) + 0.000009 * radius))), latitude + 0.000009 * radius));

-- The words of a region to search for, the last one first: it tells most. A space within a word does not matter, as in 마포 구 and 마 포구.
CREATE FUNCTION "region_words"(value text) RETURNS text[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN ARRAY(
    SELECT word FROM regexp_split_to_table(
      regexp_replace(value, '(?<=(?:^|[\s,\u00a0\u3000])[^\s시군구동읍면가])[\s\u00a0\u3000]+|[\s\u00a0\u3000]+(?=[시군구동읍면가](?:$|[\s,\u00a0\u3000]))', '', 'g'),
      '[\s,\u00a0\u3000]+') WITH ORDINALITY AS part (word, place)
    WHERE word <> '' ORDER BY place DESC);

-- Each search is in one of these: by a place, else by a region, else by the first pair of characters of its text, else by its category.
CREATE INDEX "saved_searches_area_idx" ON "saved_searches"
  USING gist (search_area("latitude", "longitude", coalesce("radius_m", 3000))) WHERE "latitude" IS NOT NULL;
CREATE INDEX "saved_searches_region_words_idx" ON "saved_searches" (((region_words("region"))[1])) WHERE "latitude" IS NULL;
CREATE INDEX "saved_searches_text_idx" ON "saved_searches" (((search_keys(search_key("q")))[1]))
  WHERE "latitude" IS NULL AND "region" IS NULL;
CREATE INDEX "saved_searches_category_idx" ON "saved_searches" ("category_id")
  WHERE "latitude" IS NULL AND "region" IS NULL AND "q" IS NULL;

-- WHAT FOLLOWS A CHANGE OF A REQUEST, and a new request with all of it: steps that are one round trip.

-- Adds notifications and wakes up the streams of their users: last in a transaction, as the lock of a user's count lasts until the
-- commit, and ids are drawn under it, so that the ids of one user grow in commit order. Users who were deleted meanwhile are left
-- out. Counts are locked in the order of the users, to avoid deadlocks. A match is in the count already: the transaction has counted it
-- for its limit a day.
CREATE FUNCTION "notify"(
  "users" integer[], "kinds" notification_kind[], "requests" bigint[], "posts" bigint[], "searches" integer[],
  "matches" integer[]
) RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  added record;
  added_id bigint;
  notified integer[] := '{}';
  ids bigint[] := '{}';
BEGIN
  INSERT INTO notification_counts AS c (user_id, unread)
  SELECT user_id, count(*) FROM unnest(users, kinds) AS n(user_id, kind)
  WHERE kind <> 'saved_search_match' AND (SELECT true FROM users WHERE id = user_id)
  GROUP BY user_id ORDER BY user_id
  ON CONFLICT (user_id) DO UPDATE SET unread = c.unread + excluded.unread;
  -- After the counts are locked, as everything locks them first.
  IF current_timeline() <> pg_sequence_last_value('notifications_timeline') THEN PERFORM skip_lost_notification_ids(); END IF;
  -- One by one, so that each statement names one user: see deploy/citus.
  FOR added IN
    SELECT * FROM unnest(users, kinds, requests, posts, searches, matches) n(user_id, kind, request, post, search, matches)
    WHERE (SELECT true FROM users WHERE id = n.user_id)
  LOOP
    INSERT INTO notifications (user_id, kind, partner_request_id, post_id, saved_search_id, matches, created_at)
    VALUES (added.user_id, added.kind, added.request, added.post, added.search, added.matches, clock_timestamp())
    RETURNING id INTO added_id;
    notified := notified || added.user_id;
    ids := ids || added_id;
  END LOOP;
  INSERT INTO outbox (user_id, notification_id) SELECT * FROM unnest(notified, ids);
END $$;

-- Enqueues an email to a user that may get it: the address is verified, the account is not suspended, its user gets emails of the
-- topic, and the address has had fewer than `cap` of the purpose within an hour. Concurrent transactions wait at the row of an address
-- until this one ends, so that they cannot exceed the cap together. Returns whether it was enqueued.
CREATE FUNCTION "add_unrequested_mail"(
  "about" mail_purpose, "wanted" mail_topic, "cap" integer, "mail" jsonb, "of_user" integer, "payload" jsonb
) RETURNS boolean LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  address text;
BEGIN
  SELECT email INTO address FROM users
  WHERE id = of_user AND is_verified AND suspended_at IS NULL AND coalesce(wanted <> ALL (muted_mails), true);
  IF NOT FOUND THEN RETURN false; END IF;
  INSERT INTO mail_sends AS m (purpose, email, sent_at) VALUES (about, address, ARRAY[clock_timestamp()])
  ON CONFLICT (purpose, email) DO UPDATE SET updated_at = clock_timestamp(),
    sent_at = ARRAY(SELECT t FROM unnest(m.sent_at) t WHERE t > clock_timestamp() - interval '1 hour') || clock_timestamp()
    WHERE (SELECT count(*) FROM unnest(m.sent_at) t WHERE t > clock_timestamp() - interval '1 hour') < cap;
  IF NOT FOUND THEN RETURN false; END IF;
  INSERT INTO outbox (mail)
  VALUES (mail || payload || jsonb_build_object('user_id', of_user, 'idempotency_key', gen_random_uuid()));
  RETURN true;
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
  added_id bigint;
BEGIN
  -- Before all rows, and before the statements that count, which are to see what was committed while this one waited. A concurrent
  -- request with the same key is one of the same store, so it waits here, too.
  PERFORM pg_advisory_xact_lock(1903521652, sender);
  SELECT request_hash, body INTO stored FROM idempotency_keys
  WHERE scope = of_scope AND key = of_key AND created_at > now() - interval '24 hours';
  IF FOUND THEN
    IF stored.request_hash <> ALL (hashes) THEN refusal := 'idempotency_key_reused'; RETURN; END IF;
    request := stored.body -> 'data';
    replayed_in := stored.body ->> 'language';
    RETURN;
  END IF;

  -- Both stores and then the post are locked against being closed, suspended or deleted; stores in id order, to avoid deadlocks.
  FOR store IN
    SELECT id, owner_id, name FROM stores
    WHERE id IN (sender, receiver) AND closed_at IS NULL AND suspended_at IS NULL AND owner_id IS NOT NULL
    ORDER BY id FOR SHARE
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
    PERFORM add_unrequested_mail('partner_request', 'partner_request_received', mail_cap, mail,
      receiving.owner_id, jsonb_build_object('request_id', created.id));
  END IF;
  -- What `notify` does for many, without the cost of its call: a tenth of the whole.
  INSERT INTO notification_counts AS c (user_id, unread) VALUES (receiving.owner_id, 1)
  ON CONFLICT (user_id) DO UPDATE SET unread = c.unread + 1;
  IF current_timeline() <> pg_sequence_last_value('notifications_timeline') THEN PERFORM skip_lost_notification_ids(); END IF;
  INSERT INTO notifications (user_id, kind, partner_request_id, created_at)
  VALUES (receiving.owner_id, 'partner_request_received', created.id, clock_timestamp()) RETURNING id INTO added_id;
  INSERT INTO outbox (user_id, notification_id) VALUES (receiving.owner_id, added_id);
  request := jsonb_build_object('box', 'sent', 'id', created.id, 'post_id', wanted_post, 'post_title', post.title,
    'status', 'requested', 'message', words, 'createdAt', created.created_at, 'updatedAt', created.created_at,
    'receiver_store_id', receiver, 'receiver_store_name', receiving.name);
  IF of_scope IS NOT NULL THEN
    INSERT INTO idempotency_keys (scope, key, request_hash, body)
    VALUES (of_scope, of_key, hashes[1], jsonb_build_object('data', request, 'language', language))
    ON CONFLICT (scope, key) DO UPDATE
      SET request_hash = excluded.request_hash, body = excluded.body, created_at = excluded.created_at;
  END IF;
END $$;
