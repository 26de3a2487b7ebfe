-- step: Computations that a program runs outside of its backward pass. JAX
--   writes transpose into the path of the call that leads to a part of the
--   backward pass; the paths below that call begin anew.
-- grain: pair, side, computation
WITH RECURSIVE calls AS MATERIALIZED (
  SELECT DISTINCT i.pair, i.is_candidate, i.computation_id, c.called_id
  FROM program_calls AS c
  JOIN program_instructions AS i USING (pair, is_candidate, instruction_id)
  JOIN forms AS f USING (form_id)
  WHERE NOT coalesce(contains(f.op_name, 'transpose('), FALSE)
),
led AS (
  SELECT p.pair, p.is_candidate, p.entry_id AS computation_id
  FROM programs AS p
  UNION
  SELECT l.pair, l.is_candidate, c.called_id
  FROM led AS l
  JOIN calls AS c USING (pair, is_candidate, computation_id)
)
SELECT l.pair, l.is_candidate, l.computation_id
FROM led AS l
