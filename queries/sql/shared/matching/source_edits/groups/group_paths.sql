-- step: Framework paths of a group and of what descends from it, as far as the
--   other side lacks it, with what a function of a library computes that it
--   calls, where JAX writes no frames into that.
-- grain: pair, file, function
WITH RECURSIVE next_operations AS MATERIALIZED (
  SELECT
    e.pair, e.is_candidate, e.operand_id AS instruction_id,
    e.instruction_id AS next_id
  FROM operand_edges AS e
  SEMI JOIN unmatched_operations AS u
    USING (pair, is_candidate, instruction_id)
  ANTI JOIN grouped_operations AS g USING (pair, is_candidate, instruction_id)
  WHERE $with_paths
  UNION ALL
  SELECT c.pair, c.is_candidate, c.instruction_id, o.instruction_id
  FROM program_calls AS c
  JOIN operations AS o
    ON o.pair = c.pair
    AND o.is_candidate = c.is_candidate
    AND o.computation_id = c.called_id
  WHERE $with_paths
    AND o.frame_id IS NULL
),
descendants AS (
  SELECT
    g.pair, g.is_candidate, g.instruction_id, g.source_file, g.function_name
  FROM grouped_operations AS g
  WHERE $with_paths
  UNION
  SELECT
    d.pair, d.is_candidate, n.next_id, d.source_file, d.function_name
  FROM descendants AS d
  JOIN next_operations AS n USING (pair, is_candidate, instruction_id)
)
SELECT
  d.pair, d.source_file, d.function_name,
  list(DISTINCT o.op_paths) FILTER (WHERE NOT o.is_candidate) AS base_paths,
  list(DISTINCT o.op_paths) FILTER (WHERE o.is_candidate) AS candidate_paths
FROM descendants AS d
JOIN operations AS o USING (pair, is_candidate, instruction_id)
GROUP BY d.pair, d.source_file, d.function_name
