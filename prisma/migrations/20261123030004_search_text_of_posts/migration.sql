-- Outside a transaction: each row is locked for a moment only, and what is done stays done where the run is interrupted.
DO $$
DECLARE
  row_id integer;
BEGIN
  -- No commit waits for the disk but the last one, which records the migration.
  SET synchronous_commit = off;
  -- For adding the collected entries to the index.
  SET work_mem = '64MB';
  FOR row_id IN SELECT id FROM posts ORDER BY id LOOP
    UPDATE posts SET search_text = search_key(title) || E'\n' || search_key(content)
    WHERE id = row_id AND search_text <> search_key(title) || E'\n' || search_key(content);
    COMMIT;
  END LOOP;
  RESET work_mem;
  RESET synchronous_commit;
END $$;
