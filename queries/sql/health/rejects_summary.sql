-- title: Rejected input
-- question: Which input could not be read, and where is the first example?
-- definition: rejects by code, section and kind of file, over all runs or one.
--   example is the first by run, path and line. file_bytes adds up the
--   affected files, each once.
-- grain: code, section, kind of file
-- leading: code, reject_count, message, example, file_kind, section,
--   file_count
-- param run VARCHAR = NULL of runs.name: Only this run; NULL for all.
-- column code VARCHAR name neutral: Short, stable name of the problem.
-- column section VARCHAR name neutral: Section of the format.
-- column file_kind VARCHAR name neutral: Kind of file.
-- column reject_count BIGINT count lower_is_better: Places with the problem.
-- column file_count BIGINT count lower_is_better: Affected files.
-- column file_bytes BIGINT bytes lower_is_better: Size of the affected files.
-- column example VARCHAR text neutral: First place, as run:path:line:column.
-- column message VARCHAR text neutral: Its message.
WITH places AS (
  SELECT
    j.code, j.section, f.kind AS file_kind, j.run_id, j.path, f.size_bytes,
    r.name || ':' || j.path || coalesce(':' || j.line, '')
      || coalesce(':' || j.column_number, '') AS example,
    j.message,
    row_number() OVER (
      PARTITION BY j.code, j.section, f.kind
      ORDER BY j.run_id, j.path, j.line NULLS FIRST,
        j.column_number NULLS FIRST
    ) AS place,
    row_number() OVER (
      PARTITION BY j.code, j.section, f.kind, j.run_id, j.path
      ORDER BY j.line NULLS FIRST, j.column_number NULLS FIRST
    ) AS place_in_file
  FROM rejects AS j
  JOIN runs AS r USING (run_id)
  LEFT JOIN dump_files AS f
    ON f.run_id = j.run_id
    AND f.path = j.path
  WHERE $run IS NULL
    OR r.name = $run
)
SELECT
  code, section, file_kind, count(*) AS reject_count,
  count(*) FILTER (WHERE place_in_file = 1) AS file_count,
  CAST(coalesce(sum(size_bytes) FILTER (WHERE place_in_file = 1), 0) AS BIGINT)
    AS file_bytes,
  max(example) FILTER (WHERE place = 1) AS example,
  max(message) FILTER (WHERE place = 1) AS message
FROM places
GROUP BY code, section, file_kind
ORDER BY reject_count DESC, code, section, file_kind
