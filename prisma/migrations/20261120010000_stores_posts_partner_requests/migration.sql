-- CreateEnum
CREATE TYPE "partner_request_status" AS ENUM ('requested', 'accepted', 'declined', 'withdrawn');

-- CreateEnum
CREATE TYPE "notification_kind" AS ENUM ('partner_request_received', 'partner_request_accepted', 'partner_request_declined', 'partner_request_withdrawn');

-- CreateTable
CREATE TABLE "stores" (
    "id" SERIAL NOT NULL,
    "owner_id" INTEGER,
    "name" VARCHAR(50) NOT NULL,
    "description" VARCHAR(2000) NOT NULL DEFAULT '',
    "address" VARCHAR(200) NOT NULL DEFAULT '',
    "phone_number" VARCHAR(30) NOT NULL DEFAULT '',
    "business_hours" VARCHAR(100) NOT NULL DEFAULT '',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "closed_at" TIMESTAMPTZ(3),

    CONSTRAINT "stores_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "store_categories" (
    "id" SERIAL NOT NULL,
    "name" VARCHAR(20) NOT NULL,

    CONSTRAINT "store_categories_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "store_category_links" (
    "store_id" INTEGER NOT NULL,
    "category_id" INTEGER NOT NULL,
    "position" SMALLINT NOT NULL,

    CONSTRAINT "store_category_links_pkey" PRIMARY KEY ("store_id","category_id")
);

-- CreateTable
CREATE TABLE "posts" (
    "id" SERIAL NOT NULL,
    "store_id" INTEGER NOT NULL,
    "title" VARCHAR(100) NOT NULL,
    "content" VARCHAR(5000) NOT NULL,
    "images" TEXT[],
    "search_text" TEXT NOT NULL DEFAULT '',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "deleted_at" TIMESTAMPTZ(3),

    CONSTRAINT "posts_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "partner_requests" (
    "id" SERIAL NOT NULL,
    "post_id" INTEGER NOT NULL,
    "sender_store_id" INTEGER NOT NULL,
    "receiver_store_id" INTEGER NOT NULL,
    "status" "partner_request_status" NOT NULL DEFAULT 'requested',
    "message" VARCHAR(1000) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "partner_requests_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "notifications" (
    "id" BIGSERIAL NOT NULL,
    "user_id" INTEGER NOT NULL,
    "kind" "notification_kind" NOT NULL,
    "partner_request_id" INTEGER NOT NULL,
    "is_read" BOOLEAN NOT NULL DEFAULT false,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "notifications_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "stores_owner_id_key" ON "stores"("owner_id");

-- CreateIndex
CREATE INDEX "stores_created_at_id_idx" ON "stores"("created_at" DESC, "id" DESC);

-- CreateIndex
CREATE UNIQUE INDEX "store_categories_name_key" ON "store_categories"("name");

-- CreateIndex
CREATE INDEX "store_category_links_category_id_store_id_idx" ON "store_category_links"("category_id", "store_id");

-- CreateIndex
CREATE UNIQUE INDEX "store_category_links_store_id_position_key" ON "store_category_links"("store_id", "position");

-- CreateIndex
CREATE UNIQUE INDEX "posts_id_store_id_key" ON "posts"("id", "store_id");

-- CreateIndex
CREATE INDEX "partner_requests_sender_store_id_created_at_id_idx" ON "partner_requests"("sender_store_id", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "partner_requests_receiver_store_id_created_at_id_idx" ON "partner_requests"("receiver_store_id", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "notifications_user_id_id_idx" ON "notifications"("user_id", "id" DESC);

-- CreateIndex
CREATE INDEX "notifications_partner_request_id_idx" ON "notifications"("partner_request_id");

-- AddForeignKey
ALTER TABLE "stores" ADD CONSTRAINT "stores_owner_id_fkey" FOREIGN KEY ("owner_id") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "store_category_links" ADD CONSTRAINT "store_category_links_store_id_fkey" FOREIGN KEY ("store_id") REFERENCES "stores"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "store_category_links" ADD CONSTRAINT "store_category_links_category_id_fkey" FOREIGN KEY ("category_id") REFERENCES "store_categories"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "posts" ADD CONSTRAINT "posts_store_id_fkey" FOREIGN KEY ("store_id") REFERENCES "stores"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "partner_requests" ADD CONSTRAINT "partner_requests_post_id_receiver_store_id_fkey" FOREIGN KEY ("post_id", "receiver_store_id") REFERENCES "posts"("id", "store_id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "partner_requests" ADD CONSTRAINT "partner_requests_sender_store_id_fkey" FOREIGN KEY ("sender_store_id") REFERENCES "stores"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "partner_requests" ADD CONSTRAINT "partner_requests_receiver_store_id_fkey" FOREIGN KEY ("receiver_store_id") REFERENCES "stores"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "notifications" ADD CONSTRAINT "notifications_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "notifications" ADD CONSTRAINT "notifications_partner_request_id_fkey" FOREIGN KEY ("partner_request_id") REFERENCES "partner_requests"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- What the schema language cannot say.

INSERT INTO "store_categories" ("name") VALUES
  ('카페'), ('음식점'), ('베이커리'), ('주점'), ('식료품'), ('의류·잡화'),
  ('미용'), ('건강·운동'), ('교육'), ('문화·여가'), ('숙박'), ('기타');

ALTER TABLE "stores"
  ADD CONSTRAINT "stores_name_check" CHECK (char_length("name") >= 1),
  ADD CONSTRAINT "stores_phone_number_check" CHECK (
    "phone_number" ~ '^(0[1-9][0-9]{0,2}-?[0-9]{3,4}-?[0-9]{4}|[1-9](-?[0-9]){7,14})?$'),
  -- A store without an owner is closed, and a closed one shows no way to reach it.
  ADD CONSTRAINT "stores_closed_check" CHECK (
    CASE WHEN "closed_at" IS NULL THEN true
    ELSE "description" = '' AND "address" = '' AND "phone_number" = '' AND "business_hours" = '' END);

ALTER TABLE "store_category_links"
  ADD CONSTRAINT "store_category_links_position_check" CHECK ("position" BETWEEN 1 AND 5);

ALTER TABLE "posts"
  ADD CONSTRAINT "posts_title_check" CHECK (char_length("title") >= 1),
  ADD CONSTRAINT "posts_content_check" CHECK (char_length("content") >= 1),
  ADD CONSTRAINT "posts_images_check" CHECK (
    cardinality("images") BETWEEN 1 AND 10 AND array_position("images", NULL) IS NULL);

ALTER TABLE "partner_requests"
  ADD CONSTRAINT "partner_requests_message_check" CHECK (char_length("message") >= 1),
  ADD CONSTRAINT "partner_requests_own_post_check" CHECK ("sender_store_id" <> "receiver_store_id");

-- One request of a store for a post that waits for an answer or was accepted.
CREATE UNIQUE INDEX "partner_requests_open_key" ON "partner_requests" ("sender_store_id", "post_id")
  WHERE "status" IN ('requested', 'accepted');

-- What is withdrawn when a post is deleted.
CREATE INDEX "partner_requests_pending_idx" ON "partner_requests" ("post_id") WHERE "status" = 'requested';

-- A request is answered or withdrawn once; nothing follows after that.
CREATE FUNCTION "check_partner_request_transition"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.status <> NEW.status AND (OLD.status <> 'requested') THEN
    RAISE EXCEPTION 'a partner request cannot go from % to %', OLD.status, NEW.status
      USING ERRCODE = 'check_violation', CONSTRAINT = 'partner_requests_transition';
  END IF;
  RETURN NEW;
END $$;

CREATE TRIGGER "partner_requests_transition" BEFORE UPDATE OF "status" ON "partner_requests"
  FOR EACH ROW EXECUTE FUNCTION "check_partner_request_transition"();

-- Counting what is unread reads only that.
CREATE INDEX "notifications_unread_idx" ON "notifications" ("user_id", "id") WHERE NOT "is_read";

-- Feeds: newest first, of everybody and of one store.
CREATE INDEX "posts_feed_idx" ON "posts" ("created_at" DESC, "id" DESC) WHERE "deleted_at" IS NULL;
CREATE INDEX "posts_store_feed_idx" ON "posts" ("store_id", "created_at" DESC, "id" DESC) WHERE "deleted_at" IS NULL;

-- A store that is open has a category, whoever writes the rows. Asked at the end of the transaction, with the store
-- locked, so that two that take one category each cannot leave none.
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

-- What one store has is read newest first and only so far, by an index in that order. Taking all stores for equally busy, the
-- planner expects a handful of rows, and may fetch all there are and sort them, also where there are a hundred thousand.
-- A comparison with this function's result looks dear to it, unless an index makes it: an ordered index scan computes
-- the result once, whereas every other plan would have to for each row.
CREATE FUNCTION "walk_from"(moment timestamptz) RETURNS timestamptz LANGUAGE plpgsql STABLE PARALLEL SAFE COST 10000
  AS 'BEGIN RETURN moment; END';

-- Search: substrings of any length in any script, with nothing but PostgreSQL itself. A text is found by its characters and
-- pairs of neighbouring characters; whether they stand together is checked on the few texts that have them all.

-- Folds upper and lower case. `lower(upper(x))` also makes the two small sigmas one. Where the database's locale is `C`,
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

-- The characters of a text and its pairs of neighbouring characters, in time linear in its length.
CREATE FUNCTION "search_grams"(folded text) RETURNS text[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT singles || ARRAY(SELECT a || b FROM unnest(singles, singles[2:]) AS pair (a, b) WHERE b IS NOT NULL)
  FROM string_to_array(folded, NULL) AS singles
$$;

-- Folding costs more than searching, so a post keeps its folded text: title and content, with a line feed between, which no
-- query can hold.
CREATE FUNCTION "set_post_search_text"() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND NEW.title = OLD.title AND NEW.content = OLD.content THEN
    NEW.search_text := OLD.search_text;
  ELSE
    NEW.search_text := search_fold(NEW.title || E'\n' || NEW.content);
  END IF;
  RETURN NEW;
END $$;

CREATE TRIGGER "posts_search_text" BEFORE INSERT OR UPDATE OF "title", "content", "search_text" ON "posts"
  FOR EACH ROW EXECUTE FUNCTION "set_post_search_text"();

-- Compared byte by byte, which is fast and the same after every upgrade of a locale. Without `fastupdate`, as a search
-- would have to read all that waits to be entered.
CREATE INDEX "posts_search_idx" ON "posts" USING gin ((search_grams("search_text") COLLATE "C"))
  WITH (fastupdate = off) WHERE "deleted_at" IS NULL;
CREATE INDEX "stores_search_idx" ON "stores" USING gin ((search_grams(search_fold("name")) COLLATE "C"))
  WITH (fastupdate = off) WHERE "closed_at" IS NULL;
