-- title: Runs
-- question: Which runs are in the warehouse, and what is known about each?
-- definition: Rows of runs with counts of their modules, distinct programs,
--   files, bytes and rejects; the latest first.
-- grain: run
-- leading: run, series, started_at, compiler_version, platform, device,
--   program_count, reject_count
-- param series
-- column run
-- column series
-- column started_at TIMESTAMP time neutral: When the dump was written (UTC).
-- column compiler_version VARCHAR name neutral: XLA release.
-- column platform
-- column device VARCHAR name neutral: Chip or GPU architecture.
-- column commit_sha VARCHAR name neutral: Commit of the program that was
--   compiled.
-- column program_count BIGINT count neutral: Distinct programs.
-- column module_count BIGINT count neutral: Module snapshots.
-- column file_count BIGINT count neutral: Files.
-- column file_bytes BIGINT bytes neutral: Their sizes, unpacked.
-- column reject_count BIGINT count lower_is_better: Places in its files that
--   could not be read.
WITH module_counts AS (
  SELECT
    m.run_id, count(*) AS module_count,
    count(DISTINCT m.program) AS program_count
  FROM modules AS m
  GROUP BY m.run_id
),
file_counts AS (
  SELECT run_id, count(*) AS file_count, sum(size_bytes) AS file_bytes
  FROM dump_files
  GROUP BY run_id
),
reject_counts AS (
  SELECT run_id, count(*) AS reject_count FROM rejects GROUP BY run_id
)
SELECT
  r.name AS run, r.series, r.started_at, r.compiler_version, r.platform,
  r.device,
  r.commit_sha, coalesce(m.program_count, 0) AS program_count,
  coalesce(m.module_count, 0) AS module_count,
  coalesce(f.file_count, 0) AS file_count,
  CAST(coalesce(f.file_bytes, 0) AS BIGINT) AS file_bytes,
  coalesce(j.reject_count, 0) AS reject_count
FROM runs AS r
JOIN run_order() AS o USING (run_id)
LEFT JOIN module_counts AS m USING (run_id)
LEFT JOIN file_counts AS f USING (run_id)
LEFT JOIN reject_counts AS j USING (run_id)
WHERE $series IS NULL
  OR r.series = $series
ORDER BY o.place
