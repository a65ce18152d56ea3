-- What a restored database must forget, because it happened differently since the backup. restore.sh runs it.

-- Sessions that ended since the backup would be back, with refresh tokens that were used up. Everybody logs in again.
DELETE FROM sessions;

-- The same holds for codes and links, which work once. Links that undo a change of an address stay: their change is back, too.
DELETE FROM email_codes;
DELETE FROM email_proofs;
DELETE FROM password_resets;

-- Mails that waited at the time of the backup have been sent since, most likely. They are kept where an operator can send them.
-- A worker of then may have locked them.
SELECT graphile_worker.force_unlock_workers(array_agg(DISTINCT locked_by))
FROM graphile_worker.jobs WHERE locked_by IS NOT NULL HAVING count(*) > 0;
WITH outbox AS (
  DELETE FROM outbox RETURNING mail
), waiting AS MATERIALIZED (
  SELECT payload::jsonb AS payload, attempts FROM graphile_worker.complete_jobs(ARRAY(
    SELECT id FROM graphile_worker.jobs WHERE task_identifier = 'send_mail'))
  UNION ALL
  SELECT mail, 0 FROM outbox WHERE mail IS NOT NULL
)
INSERT INTO failed_mails (user_id, kind, payload, reason, attempts)
SELECT u.id, left(payload->>'kind', 50), payload - 'kind' - 'idempotency_key', 'waited when the backup was made', w.attempts
FROM waiting w LEFT JOIN users u ON u.id = (payload->>'user_id')::int
-- These belong to codes and links that are gone.
WHERE payload->>'kind' NOT IN ('verification_code', 'reset_link', 'user_id');

-- Ids that were given out since the backup are not given to other rows: clients and emails refer to them, and a stream resumes
-- after the last id that its client has seen.
SELECT setval(format('%I.%I', schemaname, sequencename), coalesce(last_value, start_value) + 1000000)
FROM pg_sequences WHERE schemaname = 'public';
