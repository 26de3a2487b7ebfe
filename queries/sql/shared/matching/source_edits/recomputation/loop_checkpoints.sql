-- step: Pairs where one side has each step of a loop in a checkpoint of its
--   own, and the other one the loop as a whole.
-- grain: pair
WITH bodies AS (
  SELECT DISTINCT pair, is_candidate, called_id AS computation_id
  FROM program_calls
  WHERE role = 'body'
),
sides AS (
  SELECT
    o.pair, o.is_candidate,
    count_if(o.opcode = 'opt-barrier' AND b.computation_id IS NOT NULL)
      AS step_count,
    count_if(o.opcode = 'opt-barrier' AND b.computation_id IS NULL)
      AS other_count,
    count_if(o.opcode = 'while' AND o.is_recomputed) AS loop_count
  FROM operations AS o
  SEMI JOIN recomputation_changes AS t USING (pair)
  LEFT JOIN bodies AS b USING (pair, is_candidate, computation_id)
  GROUP BY o.pair, o.is_candidate
)
SELECT s.pair, l.is_candidate AS is_around_in_candidate
FROM sides AS s
JOIN sides AS l
  ON l.pair = s.pair
  AND l.is_candidate <> s.is_candidate
WHERE s.step_count > 0
  AND s.other_count = 0
  AND s.loop_count = 0
  AND l.step_count = 0
  AND l.other_count > 0
  AND l.loop_count > 0
