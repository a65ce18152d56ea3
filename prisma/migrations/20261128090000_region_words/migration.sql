-- The words of a region to search for, the last one first: it tells most. A space within a word does not matter, as in 마포 구 and 마 포구.
CREATE FUNCTION "region_words"(value text) RETURNS text[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN ARRAY(
    SELECT word FROM regexp_split_to_table(
      regexp_replace(value, '(?<=(?:^|[\s,\u00a0\u3000])[^\s시군구동읍면가])[\s\u00a0\u3000]+|[\s\u00a0\u3000]+(?=[시군구동읍면가](?:$|[\s,\u00a0\u3000]))', '', 'g'),
      '[\s,\u00a0\u3000]+') WITH ORDINALITY AS part (word, place)
    WHERE word <> '' ORDER BY place DESC);
