-- What the search looks up: pairs of neighbouring characters first, then single characters, hashed into 2^18 keys. GIN keeps its
-- keys when no row has them any more, so without a bound random texts make the index grow for ever; two texts with one key cost
-- time only, because the text itself is compared, too. Hash indexes rely on the values of `hashtext`, so they do not change.
CREATE FUNCTION "search_keys"(folded text) RETURNS int[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT ARRAY(SELECT hashtext(a || b) & 262143 FROM unnest(singles, singles[2:]) AS pair (a, b) WHERE b IS NOT NULL)
    || ARRAY(SELECT hashtext(a) & 262143 FROM unnest(singles) AS single (a))
  FROM string_to_array(folded, NULL) AS singles
$$;
