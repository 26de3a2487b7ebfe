-- What runs hold, modules counted as often as they occur.
WITH held AS (
  SELECT
    run_id,
    count(*) AS modules,
    sum(instruction_count)::BIGINT AS instructions,
    sum(allocation_count)::BIGINT AS allocations,
    sum(value_count)::BIGINT AS "values",
    sum(live_range_count)::BIGINT AS live_ranges
  FROM modules
  WHERE run_id IN (SELECT unnest($run_ids::BIGINT[]))
  GROUP BY run_id
),
rejected AS (
  SELECT run_id, count(*) AS rejects
  FROM rejects
  WHERE run_id IN (SELECT unnest($run_ids::BIGINT[]))
  GROUP BY run_id
)
SELECT
  r.run_id,
  coalesce(h.modules, 0) AS modules,
  coalesce(h.instructions, 0) AS instructions,
  coalesce(h.allocations, 0) AS allocations,
  coalesce(h."values", 0) AS "values",
  coalesce(h.live_ranges, 0) AS live_ranges,
  coalesce(x.rejects, 0) AS rejects
FROM runs AS r
LEFT JOIN held AS h USING (run_id)
LEFT JOIN rejected AS x USING (run_id)
WHERE r.run_id IN (SELECT unnest($run_ids::BIGINT[]))
