-- title: How often a computation runs
-- question: How often does each computation run in one run of the program?
-- definition: 1 for the entry computation. For others the sum over their
--   callers: the number of executions of the caller, times the trip count if
--   it is the body or condition of a loop. is_known is false if a loop with
--   unknown trip count is involved; it counts as 1. All branches of a
--   conditional count.
-- grain: module content, computation
-- param run
-- param program
-- column module_id
-- column computation_id INTEGER id neutral: The computation.
-- column times BIGINT count neutral: Executions in one run of the program.
-- column is_known BOOLEAN flag neutral: Whether the trip counts of all loops
--   around it are known.
WITH RECURSIVE callers AS MATERIALIZED (
  SELECT
    c.module_id, i.computation_id AS caller_id, c.computation_id,
    coalesce(w.trip_count, 1) AS factor,
    w.instruction_id IS NULL OR w.trip_count IS NOT NULL AS is_known
  FROM final_contents() AS m
  JOIN called_computations AS c USING (module_id)
  JOIN store.instructions AS i USING (module_id, instruction_id)
  LEFT JOIN loops() AS w
    ON w.module_id = c.module_id
    AND w.instruction_id = c.instruction_id
  WHERE c.computation_id IS NOT NULL
),
paths AS (
  SELECT
    d.module_id, d.computation_id, CAST(1 AS BIGINT) AS times,
    TRUE AS is_known,
    0 AS depth
  FROM final_contents() AS m
  JOIN computations AS d USING (module_id)
  WHERE d.kind = 'entry'
  UNION ALL
  SELECT
    c.module_id, c.computation_id,
    CAST(sum(CAST(p.times AS HUGEINT) * c.factor) AS BIGINT),
    bool_and(p.is_known AND c.is_known), p.depth + 1
  FROM paths AS p
  JOIN callers AS c
    ON c.module_id = p.module_id
    AND c.caller_id = p.computation_id
  WHERE p.depth < 100
  GROUP BY c.module_id, c.computation_id, p.depth
)
SELECT
  module_id, computation_id, CAST(sum(times) AS BIGINT) AS times,
  bool_and(is_known) AS is_known
FROM paths
GROUP BY module_id, computation_id
