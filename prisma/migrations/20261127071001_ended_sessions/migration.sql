-- A push subscription ends with its session, however that is ended. One that expired is deleted by the clean-up and ends none.
CREATE FUNCTION "end_push_subscriptions"() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  DELETE FROM push_subscriptions WHERE user_id = OLD.user_id AND session_id = OLD.id;
  RETURN NULL;
END $$;

CREATE TRIGGER "sessions_ended" AFTER DELETE ON "sessions"
  FOR EACH ROW WHEN (OLD."expires_at" > now()) EXECUTE FUNCTION "end_push_subscriptions"();

-- A suspension also ends the subscriptions of sessions that expired.
CREATE OR REPLACE FUNCTION "end_suspended_sessions"() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  DELETE FROM sessions WHERE user_id = NEW.id;
  DELETE FROM push_subscriptions WHERE user_id = NEW.id;
  RETURN NULL;
END $$;

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
