-- AlterTable
ALTER TABLE "stores" ADD COLUMN     "hidden_at" TIMESTAMPTZ(3);

-- `suspended_at` is what readers look at, those of the release before included: the suspension of the owner, else `hidden_at`.
-- Both functions compute it from the row that they have locked. A suspension updates the user before the store; whichever of the
-- two updates of the store comes last sees what the other one wrote, in the user or in the store.
CREATE OR REPLACE FUNCTION "suspend_store"() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  UPDATE stores SET suspended_at = coalesce(NEW.suspended_at, hidden_at) WHERE owner_id = NEW.id;
  RETURN NULL;
END $$;

CREATE FUNCTION "hide_store"() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  NEW.suspended_at := coalesce((SELECT suspended_at FROM users WHERE id = NEW.owner_id), NEW.hidden_at);
  RETURN NEW;
END $$;

CREATE TRIGGER "stores_hidden" BEFORE UPDATE OF "hidden_at" ON "stores"
  FOR EACH ROW EXECUTE FUNCTION "hide_store"();
