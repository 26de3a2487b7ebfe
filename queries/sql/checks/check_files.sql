-- title: Every line of every file is parsed
-- question: Which files have lines that no rule matched, or rejected places?
-- definition: lines_unclaimed plus rejects of every file of a run, whose
--   expected number is 0. A log also holds what programs print: of it, and of
--   files known and left unread, only rejects count.
-- grain: file
-- param run VARCHAR = NULL of runs.name: Only files of this run; NULL for all.
-- column run_id
-- column path
-- column place VARCHAR text neutral: File or rejected place.
-- column expected BIGINT count neutral: What it should be.
-- column found BIGINT count neutral: What it is.
SELECT
  r.run_id, coalesce(f.path, j.path) AS path,
  'lines' || coalesce(', ' || j.message, ', ' || f.reason, '') AS place,
  CAST(0 AS BIGINT) AS expected,
  coalesce(f.lines_unclaimed, 0) + coalesce(j.reject_count, 0) AS found
FROM (
  SELECT
    run_id, path, reason,
    CASE WHEN kind = 'log' THEN 0 ELSE lines_unclaimed END AS lines_unclaimed
  FROM dump_files
) AS f
FULL JOIN (
  SELECT run_id, path, count(*) AS reject_count, min(message) AS message
  FROM rejects
  GROUP BY run_id, path
) AS j
  ON j.run_id = f.run_id
  AND j.path = f.path
JOIN runs AS r ON r.run_id = coalesce(f.run_id, j.run_id)
WHERE coalesce(f.lines_unclaimed, 0) + coalesce(j.reject_count, 0) > 0
  AND ($run IS NULL OR r.name = $run)
