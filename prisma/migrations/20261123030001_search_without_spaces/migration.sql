-- AlterTable
ALTER TABLE "stores" ADD COLUMN     "search_text" TEXT NOT NULL DEFAULT '';

-- Search ignores white space. A new function, because instances of the release before still search the names of stores by
-- `search_fold` and its index `stores_search_idx`.

-- A text with its case folded and without the white space of Unicode. The final sigma becomes the other one, wherever the
-- locale puts it.
CREATE FUNCTION "search_key"(value text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN translate(search_fold(value),
    U&'\03C2\0009\000A\000B\000C\000D\0020\0085\00A0\1680\2000\2001\2002\2003\2004\2005\2006\2007\2008\2009\200A\2028\2029\202F\205F\3000',
    U&'\03C3');

-- A text to search has a line feed between its fields, so that no query matches across them: none has a line feed left.
-- Folding costs more than searching, so it is repeated only where a field changes, or where the text would.
CREATE OR REPLACE FUNCTION "set_post_search_text"() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  IF TG_OP = 'INSERT' OR NEW.title <> OLD.title OR NEW.content <> OLD.content OR NEW.search_text <> OLD.search_text THEN
    NEW.search_text := search_key(NEW.title) || E'\n' || search_key(NEW.content);
  END IF;
  RETURN NEW;
END $$;

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
