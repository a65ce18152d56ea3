-- CreateEnum
CREATE TYPE "consent_kind" AS ENUM ('terms', 'privacy', 'marketing', 'age');

-- CreateEnum
CREATE TYPE "consent_action" AS ENUM ('given', 'withdrawn', 'asked');

-- CreateTable
CREATE TABLE "consents" (
    "id" BIGSERIAL NOT NULL,
    "user_id" INTEGER NOT NULL,
    "kind" "consent_kind" NOT NULL,
    "action" "consent_action" NOT NULL,
    "version" VARCHAR(10),
    "address" VARCHAR(45),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "consents_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "consents_user_id_kind_action_id_idx" ON "consents"("user_id", "kind", "action", "id");

-- AddForeignKey
ALTER TABLE "consents" ADD CONSTRAINT "consents_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

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
