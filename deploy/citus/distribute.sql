-- Moves the notifications, which are most of what grows, to the workers of a Citus cluster, by their user. Run it once on the
-- coordinator, as the role of the service, after `dure migrate`; requests wait until it has copied all rows. See
-- docs/operations/growth.md.
--   psql --single-transaction --file deploy/citus/distribute.sql "$DATABASE_DIRECT_URL"
-- It makes as many shards as `citus.shard_count` says, 32 by default: several for each worker that there will ever be.
\set ON_ERROR_STOP on
SET LOCAL search_path = public;
-- A role may limit statements to what the service needs.
SET LOCAL statement_timeout = 0;
-- A transaction that changes tables and functions uses one connection to each worker.
SET LOCAL citus.multi_shard_modify_mode = 'sequential';

-- One table in place of 16 partitions, because each of them would have as many shards.
ALTER TABLE notifications RENAME TO notifications_before;
CREATE TABLE notifications (LIKE notifications_before INCLUDING DEFAULTS)
  WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_insert_scale_factor = 0.05);
ALTER SEQUENCE notifications_id_seq OWNED BY notifications.id;
SELECT create_distributed_table('notifications', 'user_id');
INSERT INTO notifications SELECT * FROM notifications_before;

-- Constraints and indexes as they are, on the new table.
CREATE TEMPORARY TABLE definitions ON COMMIT DROP AS
SELECT 1 AS step, format('ALTER TABLE notifications ADD CONSTRAINT %I %s', conname, pg_get_constraintdef(oid)) AS statement
FROM pg_constraint WHERE conrelid = 'notifications_before'::regclass AND contype IN ('p', 'c')
UNION ALL
SELECT 2, replace(replace(pg_get_indexdef(indexrelid), ' ON ONLY ', ' ON '), 'notifications_before', 'notifications')
FROM pg_index WHERE indrelid = 'notifications_before'::regclass AND NOT indisprimary;

DO $$
DECLARE
  statement text;
BEGIN
  DROP TABLE notifications_before;
  FOR statement IN SELECT d.statement FROM definitions d ORDER BY step LOOP
    EXECUTE statement;
  END LOOP;
END $$;

-- A transaction that changes rows here and on one worker is to commit on both or on none, which is two-phase commit. Citus does that
-- where a transaction changes several nodes, and counts changes here only of tables that it knows: such as this one, which is empty.
CREATE TABLE two_phase_commits (id integer);
SELECT citus_add_local_table_to_metadata('two_phase_commits');

CREATE FUNCTION commit_in_two_phases() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  DELETE FROM two_phase_commits;
  RETURN NULL;
END $$;

-- Whatever adds or marks notifications writes to the outbox.
CREATE TRIGGER outbox_two_phases BEFORE INSERT ON outbox
  FOR EACH STATEMENT EXECUTE FUNCTION commit_in_two_phases();

-- The foreign key to the counts, which stay on the coordinator, is gone with the old table. Whatever adds or marks
-- notifications of a user locks its count first, so this deletes all of them.
CREATE FUNCTION delete_notifications_of_user() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  DELETE FROM notifications WHERE user_id = OLD.user_id;
  DELETE FROM two_phase_commits;
  RETURN NULL;
END $$;

CREATE TRIGGER notification_counts_deleted AFTER DELETE ON notification_counts
  FOR EACH ROW EXECUTE FUNCTION delete_notifications_of_user();
