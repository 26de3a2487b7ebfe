-- step: Computations that a checkpoint runs again. What runs in a loop that is
--   recomputed is not marked itself.
-- grain: pair, side, computation
WITH RECURSIVE calls AS MATERIALIZED (
  SELECT DISTINCT i.pair, i.is_candidate, i.computation_id, c.called_id
  FROM program_calls AS c
  JOIN program_instructions AS i USING (pair, is_candidate, instruction_id)
),
recomputed AS (
  SELECT o.pair, o.is_candidate, c.called_id AS computation_id
  FROM operations AS o
  JOIN program_calls AS c USING (pair, is_candidate, instruction_id)
  WHERE o.is_recomputed
  UNION
  SELECT r.pair, r.is_candidate, n.called_id
  FROM recomputed AS r
  JOIN calls AS n USING (pair, is_candidate, computation_id)
)
SELECT * FROM recomputed
