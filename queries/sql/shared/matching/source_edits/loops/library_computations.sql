-- step: Computations that only calls of a library's jitted functions lead to,
--   such as the loop of a random number generator: paths in a computation that
--   is called may begin there, and do not name the call.
-- grain: pair, side, computation
WITH RECURSIVE
-- is_of_library: NULL where it is no call of a jitted function.
calls AS MATERIALIZED (
  SELECT DISTINCT
    i.pair, i.is_candidate, i.computation_id, c.called_id,
    CASE
      WHEN f.opcode = 'call' AND f.op_name SIMILAR TO '(.*\W)?jit\(\w+\)+'
        THEN u.pair IS NULL
    END AS is_of_library
  FROM program_calls AS c
  JOIN program_instructions AS i USING (pair, is_candidate, instruction_id)
  JOIN forms AS f USING (form_id)
  LEFT JOIN user_functions AS u
    ON u.pair = i.pair
    AND u.function_name = regexp_extract(f.op_name, '\bjit\((\w+)\)+$', 1)
  WHERE i.pair IN (SELECT w.pair FROM user_functions AS w)
),
led AS (
  SELECT
    p.pair, p.is_candidate, p.entry_id AS computation_id,
    FALSE AS is_of_library
  FROM programs AS p
  UNION
  SELECT
    l.pair, l.is_candidate, c.called_id,
    coalesce(c.is_of_library, l.is_of_library)
  FROM led AS l
  JOIN calls AS c USING (pair, is_candidate, computation_id)
)
SELECT l.pair, l.is_candidate, l.computation_id
FROM led AS l
GROUP BY l.pair, l.is_candidate, l.computation_id
HAVING bool_and(l.is_of_library)
