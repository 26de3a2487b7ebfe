-- step: Computations that run in each while loop, also those that they call;
--   of pairs with another number of loops.
-- grain: pair, side, loop, computation
WITH RECURSIVE calls AS MATERIALIZED (
  SELECT DISTINCT i.pair, i.is_candidate, i.computation_id, c.called_id
  FROM program_calls AS c
  JOIN program_instructions AS i USING (pair, is_candidate, instruction_id)
  WHERE i.pair IN (SELECT l.pair FROM surplus_loops AS l)
),
contents AS (
  SELECT
    l.pair, l.is_candidate, l.instruction_id,
    c.called_id AS computation_id
  FROM surplus_loops AS l
  JOIN program_calls AS c USING (pair, is_candidate, instruction_id)
  UNION
  SELECT t.pair, t.is_candidate, t.instruction_id, c.called_id
  FROM contents AS t
  JOIN calls AS c USING (pair, is_candidate, computation_id)
)
SELECT * FROM contents
