-- Runs called so that this hlodb has finished: their rows and what they hold. Those
-- are left out of which files are to be read again, or were not read for a reason.
WITH named AS (
  FROM runs
  WHERE name IN (SELECT unnest($names::VARCHAR[]))
    AND pruned_at IS NULL
    AND hlodb_version = $version
),
held AS (
  SELECT
    run_id,
    count(*) AS modules,
    sum(instruction_count) AS instructions,
    sum(allocation_count) AS allocations,
    sum(value_count) AS "values",
    sum(live_range_count) AS live_ranges,
    count(*) FILTER (stage = 'pass' AND NOT is_detailed) AS reduced
  FROM modules
  SEMI JOIN named USING (run_id)
  GROUP BY run_id
),
rejected AS (
  SELECT
    run_id,
    count(*) AS rejects,
    count(*) FILTER (code = 'refused') AS refused
  FROM rejects
  SEMI JOIN named USING (run_id)
  GROUP BY run_id
),
left_out AS (
  SELECT DISTINCT run_id
  FROM dump_files
  SEMI JOIN named USING (run_id)
  WHERE reason = 'left out by --passes none'
)
SELECT
  n.run_id, n.name, h.modules,
  coalesce(h.instructions, 0) AS instructions,
  coalesce(h.allocations, 0) AS allocations,
  coalesce(h."values", 0) AS "values",
  coalesce(h.live_ranges, 0) AS live_ranges,
  coalesce(r.rejects, 0) AS rejects,
  n.started_at, n.is_started_at_given, n.series, n.commit_sha, n.labels
FROM named AS n
JOIN held AS h USING (run_id)
LEFT JOIN rejected AS r USING (run_id)
WHERE coalesce(r.refused, 0) = 0
  AND (
    $passes <> 'full'
    OR h.reduced = 0 AND n.run_id NOT IN (FROM left_out)
  )
