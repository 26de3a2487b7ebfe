-- title: Every line of every file is parsed
-- question: Which files have lines that no rule matched, or rejected places?
-- definition: Unmatched lines (lines_unclaimed) plus rejects of every file of
--   a run; 0 is expected. For logs, which also contain the output of programs,
--   and for files that hlodb recognises but does not read, only rejects count.
-- grain: file
-- param run VARCHAR = NULL of runs.name: Only files of this run; NULL for all.
-- column run_id
-- column path
-- column place VARCHAR text neutral: Message of the reject, reason, or
--   unparsed lines.
-- column expected BIGINT count neutral: Expected value.
-- column found BIGINT count neutral: Value found.
SELECT
  r.run_id, coalesce(f.path, j.path) AS path,
  coalesce(j.message, f.reason, 'unparsed lines') AS place,
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
