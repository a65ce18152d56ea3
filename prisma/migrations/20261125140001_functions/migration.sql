-- Functions and triggers, and the indexes that use a function.

-- ACCOUNTS

-- A suspension ends the sessions of the account permanently: lifting it restores none of them.
CREATE FUNCTION "end_suspended_sessions"() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  DELETE FROM sessions WHERE user_id = NEW.id;
  RETURN NULL;
END $$;

CREATE TRIGGER "users_suspended" AFTER UPDATE OF "suspended_at" ON "users"
  FOR EACH ROW WHEN (NEW."suspended_at" IS NOT NULL) EXECUTE FUNCTION "end_suspended_sessions"();

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

-- IMAGES

-- Unlinks the images that posts no longer show, whatever writes the posts; the clean-up then looks at each of them. An image is
-- locked before its link is deleted, as by a deletion of the image, whose foreign key reads the links.
CREATE FUNCTION "unlink_images"() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  WITH unused AS (
    SELECT l.post_id, l.image_id
    FROM changed c JOIN post_images l ON l.post_id = c.id JOIN images i ON i.id = l.image_id
    WHERE c.deleted_at IS NOT NULL OR NOT (i.key = ANY (c.images))
    ORDER BY l.image_id + 0 FOR NO KEY UPDATE OF i
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

-- What a store may still send, as it is now: a function that is not stable sees what was committed while its statement waited for
-- the quota lock of the store.
--   full_until: when it may send a request for the post again; null while it may. Requests of any status count.
--   sent_within_hour: its requests for the post.
CREATE FUNCTION "partner_request_room"(
  "sender" integer, "post" bigint, "quota" integer, "quota_of_post" integer,
  OUT "full_until" timestamptz, OUT "sent_within_hour" integer
) LANGUAGE plpgsql VOLATILE SET search_path FROM CURRENT AS $$
BEGIN
  -- The oldest row of those that fill a quota. Reading it ends there, however many rows there are.
  full_until := interval '24 hours' + greatest(
    (SELECT created_at FROM partner_requests WHERE sender_store_id = sender AND created_at > now() - interval '24 hours'
      ORDER BY created_at DESC OFFSET quota - 1 LIMIT 1),
    (SELECT created_at FROM partner_requests
      WHERE sender_store_id = sender AND post_id = post AND created_at > now() - interval '24 hours'
      ORDER BY created_at DESC OFFSET quota_of_post - 1 LIMIT 1));
  sent_within_hour := (SELECT count(*) FROM partner_requests
    WHERE sender_store_id = sender AND post_id = post AND created_at > now() - interval '1 hour');
END $$;

-- NOTIFICATIONS

-- Clients and streams continue after the largest id that they have seen. A failover to an asynchronous standby and a restore to a
-- point in time lose rows, and would use their ids again. Both begin a new timeline of the WAL: the first statement that adds a
-- notification there skips more ids than can be lost. The last value of the sequence is the timeline of the ids.
CREATE SEQUENCE "notifications_timeline";

CREATE FUNCTION "current_timeline"() RETURNS bigint LANGUAGE sql VOLATILE AS $$
  SELECT ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::bigint
$$;

SELECT setval('notifications_timeline', current_timeline());

-- As a condition of the trigger, the comparison would be planned for each statement.
CREATE FUNCTION "skip_lost_notification_ids"() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  IF current_timeline() = pg_sequence_last_value('notifications_timeline') THEN RETURN NULL; END IF;
  -- Of concurrent statements, one skips. The key is one of `advisoryLocks` of the service.
  PERFORM pg_advisory_xact_lock(1953066341);
  IF current_timeline() <> pg_sequence_last_value('notifications_timeline') THEN
    -- Further on each timeline, because a second failover may lose what was skipped after the first.
    PERFORM setval('unread_notifications_id_seq', nextval('unread_notifications_id_seq') + 1000000 * current_timeline());
    PERFORM setval('notifications_timeline', current_timeline());
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER "notifications_timeline" BEFORE INSERT ON "unread_notifications"
  FOR EACH STATEMENT EXECUTE FUNCTION "skip_lost_notification_ids"();

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

-- A lower-case text without the white space of Unicode. The final sigma becomes the other one, wherever the locale puts it.
CREATE FUNCTION "search_key"(value text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN translate(search_fold(value),
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
