-- step: The call of the checkpoint of pairs in which all functions with
--   another number of opt-barriers have more on one side, the one that
--   recomputes more: the line that writes most of them. JAX gives each the
--   line at which the function below the checkpoint is called; where that is
--   the body of a loop, it gives the line of the loop, which is no evidence.
-- grain: pair
WITH sites AS (
  SELECT
    o.pair, o.is_candidate, o.opcode, c.file_name, c.function_name, c.line
  FROM operations AS o
  JOIN call_sites AS c USING (pair, is_candidate, frame_id)
  SEMI JOIN recomputation_changes AS t
    ON t.pair = o.pair
    AND sign(t.more_barriers) = sign(t.more_recomputed)
  WHERE o.opcode IN ('opt-barrier', 'while')
  QUALIFY row_number() OVER (
    PARTITION BY o.pair, o.is_candidate, o.instruction_id
    ORDER BY c.distance
  ) = 1
),
barriers AS (
  SELECT pair, is_candidate, file_name, function_name, line
  FROM sites
  WHERE opcode = 'opt-barrier'
),
functions AS (
  SELECT
    pair, file_name, function_name,
    count_if(is_candidate) AS candidate_count,
    count_if(NOT is_candidate) AS base_count
  FROM barriers
  GROUP BY pair, file_name, function_name
  HAVING candidate_count <> base_count
  QUALIFY max(sign(candidate_count - base_count)) OVER (PARTITION BY pair)
    = min(sign(candidate_count - base_count)) OVER (PARTITION BY pair)
)
SELECT pair, is_candidate, file_name, function_name, line
FROM barriers
JOIN functions AS f USING (pair, file_name, function_name)
ANTI JOIN (
  SELECT pair, is_candidate, file_name, function_name, line
  FROM sites
  WHERE opcode = 'while'
) AS w USING (pair, is_candidate, file_name, function_name, line)
WHERE is_candidate = (f.candidate_count > f.base_count)
  AND least(f.candidate_count, f.base_count) = 0
GROUP BY pair, is_candidate, file_name, function_name, line
QUALIFY row_number() OVER (
  PARTITION BY pair
  ORDER BY
    count(*) DESC, max(abs(f.candidate_count - f.base_count)) DESC, line,
    file_name, function_name
) = 1
