-- step: The frame of each instruction. Newer releases of JAX write none into
--   the computation of a jitted function of a library (jit(_resize)): what is
--   computed there is of the one call that leads to it (is_of_call), if both
--   sides call that function, and it consists of other operations.
-- grain: pair, side, instruction with a location
WITH RECURSIVE located AS MATERIALIZED (
  SELECT
    p.pair, p.is_candidate, n.instruction_id,
    coalesce(l.stack_frame_id, -1 - l.location_number) AS frame_id
  FROM programs AS p
  JOIN store.location_sets AS t USING (locations_id)
  JOIN store.location_numbers AS n USING (numbering_id)
  JOIN store.location_lists AS l
    ON l.list_id = t.list_id
    AND l.location_number = n.location_number
),
calls AS MATERIALIZED (
  SELECT
    c.pair, c.is_candidate, c.called_id,
    any_value(c.instruction_id) AS instruction_id,
    any_value(i.computation_id) AS computation_id,
    any_value(regexp_extract(f.op_name, '\bjit\((\w+)\)+$', 1)) AS called
  FROM program_calls AS c
  JOIN program_instructions AS i USING (pair, is_candidate, instruction_id)
  JOIN forms AS f USING (form_id)
  WHERE f.opcode = 'call'
  GROUP BY c.pair, c.is_candidate, c.called_id
  HAVING count(*) = 1
),
contents AS (
  SELECT
    c.pair, c.called, c.is_candidate, c.called_id,
    list_sort(list(DISTINCT f.opcode)) AS opcodes
  FROM calls AS c
  JOIN program_instructions AS i
    ON i.pair = c.pair
    AND i.is_candidate = c.is_candidate
    AND i.computation_id = c.called_id
  JOIN forms AS f USING (form_id)
  WHERE f.opcode NOT IN (
    'parameter', 'constant', 'tuple', 'get-tuple-element', 'convert'
  )
  GROUP BY c.pair, c.called, c.is_candidate, c.called_id
),
other_functions AS (
  SELECT b.pair, b.called
  FROM contents AS b
  JOIN contents AS d USING (pair, called)
  WHERE NOT b.is_candidate
    AND d.is_candidate
  GROUP BY b.pair, b.called
  HAVING bool_and(b.opcodes <> d.opcodes)
),
-- Computations of which no instruction has a frame.
bare_calls AS MATERIALIZED (
  SELECT c.*
  FROM calls AS c
  SEMI JOIN other_functions AS o
    ON o.pair = c.pair
    AND o.called = c.called
  ANTI JOIN (
    SELECT DISTINCT i.pair, i.is_candidate, i.computation_id
    FROM located AS l
    JOIN program_instructions AS i USING (pair, is_candidate, instruction_id)
  ) AS k
    ON k.pair = c.pair
    AND k.is_candidate = c.is_candidate
    AND k.computation_id = c.called_id
),
called AS (
  SELECT c.pair, c.is_candidate, c.called_id, l.frame_id
  FROM bare_calls AS c
  JOIN located AS l USING (pair, is_candidate, instruction_id)
  UNION
  SELECT c.pair, c.is_candidate, c.called_id, d.frame_id
  FROM called AS d
  JOIN bare_calls AS c
    ON c.pair = d.pair
    AND c.is_candidate = d.is_candidate
    AND c.computation_id = d.called_id
  ANTI JOIN located AS l
    ON l.pair = c.pair
    AND l.is_candidate = c.is_candidate
    AND l.instruction_id = c.instruction_id
)
SELECT pair, is_candidate, instruction_id, frame_id, FALSE AS is_of_call
FROM located
UNION ALL
SELECT i.pair, i.is_candidate, i.instruction_id, c.frame_id, TRUE
FROM called AS c
JOIN program_instructions AS i
  ON i.pair = c.pair
  AND i.is_candidate = c.is_candidate
  AND i.computation_id = c.called_id
JOIN forms AS f USING (form_id)
ANTI JOIN located AS l
  ON l.pair = i.pair
  AND l.is_candidate = i.is_candidate
  AND l.instruction_id = i.instruction_id
WHERE f.op_name <> ''
