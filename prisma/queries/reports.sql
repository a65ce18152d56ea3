-- Returns: id integer
-- Pages: at most 64
-- Changes no index: daily_counts
/* reports.count */
INSERT INTO
  daily_counts AS counter (kind, owner_id)
SELECT
  'report',
  id
FROM
  (
    SELECT
      $1::int AS id
  ) owner
ON CONFLICT (kind, owner_id) DO UPDATE
SET
  since = CASE
    WHEN counter.since < now() - interval '24 hours' THEN now()
    ELSE counter.since
  END,
  count = CASE
    WHEN counter.since < now() - interval '24 hours' THEN 1
    ELSE counter.count + 1
  END
WHERE
  counter.since < now() - interval '24 hours'
  OR counter.count < $2
RETURNING
  owner_id AS id;
