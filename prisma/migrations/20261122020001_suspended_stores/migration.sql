-- AlterTable
ALTER TABLE "stores" ADD COLUMN     "suspended_at" TIMESTAMPTZ(3);

-- The store of a suspended account is hidden until the suspension is lifted. Fires after `users_suspended`.
CREATE FUNCTION "suspend_store"() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  UPDATE stores SET suspended_at = NEW.suspended_at WHERE owner_id = NEW.id;
  RETURN NULL;
END $$;

CREATE TRIGGER "users_suspended_store" AFTER UPDATE OF "suspended_at" ON "users"
  FOR EACH ROW WHEN (OLD."suspended_at" IS DISTINCT FROM NEW."suspended_at") EXECUTE FUNCTION "suspend_store"();

-- Accounts that are suspended already. The lock of CREATE TRIGGER keeps others from being suspended meanwhile.
UPDATE "stores" s SET "suspended_at" = u."suspended_at" FROM "users" u
WHERE u."id" = s."owner_id" AND u."suspended_at" IS NOT NULL;
