-- step: Framework paths of a group and of what descends from it, as far as the
--   other side lacks it.
-- grain: pair, file, function
WITH RECURSIVE unmatched_edges AS MATERIALIZED (
  SELECT e.*
  FROM operand_edges AS e
  SEMI JOIN unmatched_operations AS u
    USING (pair, is_candidate, instruction_id)
  ANTI JOIN grouped_operations AS g USING (pair, is_candidate, instruction_id)
  WHERE $with_paths
),
descendants AS (
  SELECT
    g.pair, g.is_candidate, g.instruction_id, g.source_file, g.function_name
  FROM grouped_operations AS g
  WHERE $with_paths
  UNION
  SELECT
    d.pair, d.is_candidate, e.instruction_id, d.source_file, d.function_name
  FROM descendants AS d
  JOIN unmatched_edges AS e
    ON e.pair = d.pair
    AND e.is_candidate = d.is_candidate
    AND e.operand_id = d.instruction_id
)
SELECT
  d.pair, d.source_file, d.function_name,
  list(DISTINCT o.op_paths) FILTER (WHERE NOT o.is_candidate) AS base_paths,
  list(DISTINCT o.op_paths) FILTER (WHERE o.is_candidate) AS candidate_paths
FROM descendants AS d
JOIN operations AS o USING (pair, is_candidate, instruction_id)
GROUP BY d.pair, d.source_file, d.function_name
