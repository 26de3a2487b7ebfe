-- step: Operations whose signature one side has more often, on that side, or
--   on both where both have it.
-- grain: pair, side, instruction
WITH uneven_signatures AS MATERIALIZED (
  SELECT
    pair, signature, count_if(NOT is_candidate) AS base_count,
    count_if(is_candidate) AS candidate_count
  FROM signed_operations
  GROUP BY pair, signature
  HAVING base_count <> candidate_count
)
SELECT
  s.pair, s.is_candidate, s.instruction_id, s.frame_id, s.signature,
  least(c.base_count, c.candidate_count) = 0 AS is_on_one_side
FROM signed_operations AS s
JOIN uneven_signatures AS c USING (pair, signature)
WHERE s.is_candidate = (c.candidate_count > c.base_count)
  OR least(c.base_count, c.candidate_count) > 0
