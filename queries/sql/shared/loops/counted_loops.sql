-- title: Loops that count up to a constant
-- question: How often does a loop run, by its own condition?
-- definition: Loops whose condition is counter < limit or counter <= limit, or
--   the same with exchanged sides. The counter is an integer element of the
--   carried tuple that begins with a constant, and to which the body adds a
--   positive constant (the step); the limit is a constant. Each of them may be
--   copied on the way. trip_count is (limit - beginning, plus one for <=) /
--   step, rounded up, at least 0, as XLA computes it (while_loop_analysis.cc,
--   MatchTrivialLoopTripCount). Other loops have no row.
-- grain: module content, while instruction
-- param run
-- param program
-- column module_id
-- column instruction_id
-- column trip_count BIGINT count neutral: Number of iterations.
WITH RECURSIVE forms AS MATERIALIZED (
  -- Patterns are matched with each form, not with each instruction. number is
  -- a constant's value, the element taken, or of a comparison which operand is
  -- the lesser, 2 more where both may be equal.
  SELECT
    form_id, opcode,
    CASE opcode
      WHEN 'constant' THEN TRY_CAST(literal AS BIGINT)
      WHEN 'get-tuple-element'
        THEN TRY_CAST(regexp_extract(attributes, '^index=(\d+)', 1) AS BIGINT)
      WHEN 'compare' THEN list_position(
        ['direction=LT', 'direction=GT', 'direction=LE', 'direction=GE'],
        attributes
      ) - 1
    END AS number
  FROM store.instruction_forms
  WHERE opcode IN ('while', 'tuple', 'parameter')
    OR (opcode = 'compare' AND shape LIKE 'pred[]%')
    OR (
      opcode IN (
        'constant', 'get-tuple-element', 'add', 'copy', 'copy-start',
        'copy-done'
      )
      AND regexp_matches(shape, '^\(?[su]\d+\[\]')
    )
),
nodes AS MATERIALIZED (
  SELECT
    i.module_id, i.instruction_id, i.computation_id, i.is_root, f.opcode,
    f.number
  FROM final_contents() AS m
  JOIN store.instructions AS i USING (module_id)
  JOIN forms AS f USING (form_id)
),
looping AS MATERIALIZED (
  SELECT n.*
  FROM nodes AS n
  WHERE n.module_id IN (SELECT module_id FROM nodes WHERE opcode = 'while')
),
edges AS MATERIALIZED (
  SELECT
    p.module_id, p.instruction_id, n.opcode, p.operand_index, p.operand_id
  FROM operands AS p
  JOIN looping AS n USING (module_id, instruction_id)
  WHERE n.opcode NOT IN ('parameter', 'constant')
),
followed AS (
  SELECT module_id, instruction_id, operand_index, operand_id, 0 AS depth
  FROM edges
  WHERE opcode NOT LIKE 'copy%'
  UNION ALL
  SELECT
    f.module_id, f.instruction_id, f.operand_index, e.operand_id, f.depth + 1
  FROM followed AS f
  JOIN edges AS e
    ON e.module_id = f.module_id
    AND e.instruction_id = f.operand_id
  WHERE e.opcode LIKE 'copy%'
    AND e.operand_index = 0
    AND f.depth < 20
),
-- What is read in the end, past all copies.
reads AS MATERIALIZED (
  SELECT
    f.module_id, f.instruction_id, f.operand_index,
    n.instruction_id AS read_id, n.opcode, n.number
  FROM followed AS f
  JOIN looping AS n
    ON n.module_id = f.module_id
    AND n.instruction_id = f.operand_id
),
-- Elements of what a computation is called with.
elements AS MATERIALIZED (
  SELECT
    n.module_id, n.instruction_id, n.number
  FROM looping AS n
  JOIN reads AS r USING (module_id, instruction_id)
  WHERE n.opcode = 'get-tuple-element'
    AND r.opcode = 'parameter'
),
limits AS (
  SELECT
    n.module_id, n.computation_id, e.number AS element,
    CAST(b.number AS HUGEINT) + n.number // 2 AS bound
  FROM looping AS n
  JOIN reads AS a
    ON a.module_id = n.module_id
    AND a.instruction_id = n.instruction_id
    AND a.operand_index = n.number % 2
  JOIN elements AS e
    ON e.module_id = a.module_id
    AND e.instruction_id = a.read_id
  JOIN reads AS b
    ON b.module_id = n.module_id
    AND b.instruction_id = n.instruction_id
    AND b.operand_index = 1 - n.number % 2
  WHERE n.opcode = 'compare'
    AND n.is_root
    AND b.opcode = 'constant'
),
steps AS (
  SELECT DISTINCT
    n.module_id, n.computation_id, e.number AS element, b.number AS step
  FROM looping AS n
  JOIN reads AS s
    ON s.module_id = n.module_id
    AND s.instruction_id = n.instruction_id
  JOIN reads AS a
    ON a.module_id = s.module_id
    AND a.instruction_id = s.read_id
  JOIN elements AS e
    ON e.module_id = a.module_id
    AND e.instruction_id = a.read_id
    AND e.number = s.operand_index
  JOIN reads AS b
    ON b.module_id = a.module_id
    AND b.instruction_id = a.instruction_id
    AND b.operand_index = 1 - a.operand_index
  WHERE n.opcode = 'tuple'
    AND n.is_root
    AND s.opcode = 'add'
    AND b.opcode = 'constant'
    AND b.number > 0
),
starts AS (
  SELECT w.module_id, w.instruction_id, c.operand_index AS element, c.number
  FROM looping AS n
  JOIN reads AS w USING (module_id, instruction_id)
  JOIN reads AS c
    ON c.module_id = w.module_id
    AND c.instruction_id = w.read_id
  WHERE n.opcode = 'while'
    AND w.opcode = 'tuple'
    AND c.opcode = 'constant'
)
SELECT
  s.module_id, s.instruction_id,
  TRY_CAST(
    greatest(l.bound - s.number + t.step - 1, 0) // t.step AS BIGINT
  ) AS trip_count
FROM starts AS s
JOIN called_computations AS c
  ON c.module_id = s.module_id
  AND c.instruction_id = s.instruction_id
  AND c.role = 'condition'
JOIN limits AS l
  ON l.module_id = c.module_id
  AND l.computation_id = c.computation_id
  AND l.element = s.element
JOIN called_computations AS b
  ON b.module_id = s.module_id
  AND b.instruction_id = s.instruction_id
  AND b.role = 'body'
JOIN steps AS t
  ON t.module_id = b.module_id
  AND t.computation_id = b.computation_id
  AND t.element = s.element
