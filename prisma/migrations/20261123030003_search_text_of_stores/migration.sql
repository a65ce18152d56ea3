-- Outside a transaction: each row is locked for a moment only, and what is done stays done where the run is interrupted.
DO $$
DECLARE
  row_id integer;
BEGIN
  -- No commit waits for the disk but the last one, which records the migration.
  SET synchronous_commit = off;
  -- For adding the collected entries to the index.
  SET work_mem = '64MB';
  FOR row_id IN SELECT id FROM stores ORDER BY id LOOP
    UPDATE stores SET search_text = search_key(name) || E'\n' || search_key(address) || E'\n' || search_key(description)
    WHERE id = row_id AND search_text <> search_key(name) || E'\n' || search_key(address) || E'\n' || search_key(description);
    COMMIT;
  END LOOP;
  RESET work_mem;
  RESET synchronous_commit;
END $$;
