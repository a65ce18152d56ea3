-- As before, but without zero-width joiners and non-joiners outside emoji: they are not seen.
CREATE OR REPLACE FUNCTION "search_key"(value text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN translate(
    search_fold(CASE WHEN value ~ '[\u200c\u200d]' THEN regexp_replace(value,
      '(?<![\u2190-\u2bff\ufe0f\U0001f000-\U0001faff])[\u200c\u200d]+|[\u200c\u200d]+(?![\u2190-\u2bff\U0001f000-\U0001faff])',
      '', 'g') ELSE value END),
    U&'\03C2\0009\000A\000B\000C\000D\0020\0085\00A0\1680\2000\2001\2002\2003\2004\2005\2006\2007\2008\2009\200A\2028\2029\202F\205F\3000',
    U&'\03C3');
