-- title: Ingested runs
-- question: What was loaded for each run, when, by which version of hlodb, and
--   what was left out?
-- definition: Files of each run by status. Instructions, allocations, values
--   and live ranges are counted once per distinct module of the run, even if
--   several runs share the module.
-- grain: run
-- leading: run, ingested_at, file_count, file_bytes, loaded_count,
--   rejected_count, reject_count, module_count
-- param series
-- column run
-- column ingested_at TIMESTAMP time neutral: When it was ingested (UTC).
-- column hlodb_version VARCHAR name neutral: Version that ingested it.
-- column file_count BIGINT count neutral: Files of the run.
-- column file_bytes BIGINT bytes neutral: Their sizes, unpacked.
-- column loaded_count BIGINT count neutral: Files that were loaded.
-- column duplicate_count BIGINT count neutral: Files with content that was
--   already stored.
-- column ignored_count BIGINT count neutral: Files of other kinds.
-- column rejected_count BIGINT count lower_is_better: Files that could not be
--   read.
-- column reject_count BIGINT count lower_is_better: Places in files that could
--   not be parsed.
-- column unclaimed_line_count BIGINT count lower_is_better: Lines that no
--   parser rule matched.
-- column module_count BIGINT count neutral: Module snapshots.
-- column distinct_module_count BIGINT count neutral: Distinct contents among
--   them.
-- column instruction_count BIGINT count neutral: Instructions of the distinct
--   modules.
-- column allocation_count BIGINT count neutral: Allocations.
-- column value_count BIGINT count neutral: Number of values.
-- column live_range_count BIGINT count neutral: Live ranges.
WITH file_counts AS (
  SELECT
    run_id, count(*) AS file_count, sum(size_bytes) AS file_bytes,
    count(*) FILTER (WHERE status = 'loaded') AS loaded_count,
    count(*) FILTER (WHERE status = 'duplicate') AS duplicate_count,
    count(*) FILTER (WHERE status = 'ignored') AS ignored_count,
    count(*) FILTER (WHERE status = 'rejected') AS rejected_count,
    sum(lines_unclaimed) AS unclaimed_line_count
  FROM dump_files
  GROUP BY run_id
),
reject_counts AS (
  SELECT run_id, count(*) AS reject_count FROM rejects GROUP BY run_id
),
contents AS (
  SELECT
    run_id, module_id, count(*) AS occurrences,
    max(instruction_count) AS instruction_count
  FROM modules
  GROUP BY run_id, module_id
),
allocation_counts AS (
  SELECT module_id, count(*) AS n FROM allocations GROUP BY module_id
),
value_counts AS (
  SELECT module_id, count(*) AS n FROM "values" GROUP BY module_id
),
range_counts AS (
  SELECT module_id, count(*) AS n FROM store.live_ranges GROUP BY module_id
),
module_counts AS (
  SELECT
    c.run_id, sum(c.occurrences) AS module_count,
    count(*) AS distinct_module_count,
    sum(c.instruction_count) AS instruction_count,
    sum(a.n) AS allocation_count,
    sum(v.n) AS value_count, sum(l.n) AS live_range_count
  FROM contents AS c
  LEFT JOIN allocation_counts AS a USING (module_id)
  LEFT JOIN value_counts AS v USING (module_id)
  LEFT JOIN range_counts AS l USING (module_id)
  GROUP BY c.run_id
)
SELECT
  r.name AS run, r.ingested_at, r.hlodb_version,
  coalesce(f.file_count, 0) AS file_count,
  CAST(coalesce(f.file_bytes, 0) AS BIGINT) AS file_bytes,
  coalesce(f.loaded_count, 0) AS loaded_count,
  coalesce(f.duplicate_count, 0) AS duplicate_count,
  coalesce(f.ignored_count, 0) AS ignored_count,
  coalesce(f.rejected_count, 0) AS rejected_count,
  coalesce(j.reject_count, 0) AS reject_count,
  CAST(coalesce(f.unclaimed_line_count, 0) AS BIGINT) AS unclaimed_line_count,
  CAST(coalesce(m.module_count, 0) AS BIGINT) AS module_count,
  coalesce(m.distinct_module_count, 0) AS distinct_module_count,
  CAST(coalesce(m.instruction_count, 0) AS BIGINT) AS instruction_count,
  CAST(coalesce(m.allocation_count, 0) AS BIGINT) AS allocation_count,
  CAST(coalesce(m.value_count, 0) AS BIGINT) AS value_count,
  CAST(coalesce(m.live_range_count, 0) AS BIGINT) AS live_range_count
FROM runs AS r
JOIN run_order() AS o USING (run_id)
LEFT JOIN file_counts AS f USING (run_id)
LEFT JOIN reject_counts AS j USING (run_id)
LEFT JOIN module_counts AS m USING (run_id)
WHERE $series IS NULL
  OR r.series = $series
ORDER BY o.place
