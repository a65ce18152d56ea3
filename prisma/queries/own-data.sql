-- repository: countDownload
INSERT INTO
  data_downloads AS d (user_id)
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
    WHEN d.since < now() - interval '24 hours' THEN now()
    ELSE d.since
  END,
  downloads = CASE
    WHEN d.since < now() - interval '24 hours' THEN 1
    ELSE d.downloads + 1
  END
WHERE
  d.since < now() - interval '24 hours'
  OR d.downloads < $2;
