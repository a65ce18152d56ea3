-- repository: countDownload
-- Pages: at most 64
-- Changes no index: data_downloads
INSERT INTO
  data_downloads AS counter (user_id)
SELECT
  id
FROM
  users
WHERE
  id = $1
FOR KEY SHARE
ON CONFLICT (user_id) DO UPDATE
SET
  since = CASE
    WHEN counter.since < now() - interval '24 hours' THEN now()
    ELSE counter.since
  END,
  downloads = CASE
    WHEN counter.since < now() - interval '24 hours' THEN 1
    ELSE counter.downloads + 1
  END
WHERE
  counter.since < now() - interval '24 hours'
  OR counter.downloads < $2
RETURNING
  user_id AS id;
