-- step: Arrays of f32 into which the compiler alone turned one of 16 bits, as
--   CPU compilers do for products, also with its dimensions in another order:
--   the program has 16 bits there already. The program's own conversions have
--   a name. is_plain: it is the last operation, and what
--   is read has 16 bits.
-- grain: value
WITH RECURSIVE widening AS MATERIALIZED (
  SELECT DISTINCT c.module_id, c.instruction_id
  FROM scheduled_instructions AS c
  JOIN operands AS o
    ON o.module_id = c.module_id
    AND o.instruction_id = c.instruction_id
  JOIN scheduled_instructions AS s
    ON s.module_id = o.module_id
    AND s.instruction_id = o.operand_id
  WHERE c.opcode = 'convert'
    AND coalesce(c.op_name, '') = ''
    AND c.shape LIKE 'f32[%'
    AND regexp_matches(s.shape, '^b?f16\[')
),
-- From what moves data to what it moves, and from a fusion to its root.
moves AS MATERIALIZED (
  SELECT
    i.module_id, i.instruction_id, o.operand_id AS source_id,
    FALSE AS is_fusion
  FROM scheduled_instructions AS i
  JOIN operands AS o
    ON o.module_id = i.module_id
    AND o.instruction_id = i.instruction_id
    AND o.operand_index = 0
  SEMI JOIN widening AS w ON w.module_id = i.module_id
  WHERE i.opcode IN ('bitcast', 'copy', 'transpose', 'reshape')
    AND i.shape LIKE 'f32[%'
  UNION ALL
  SELECT i.module_id, i.instruction_id, r.instruction_id, TRUE
  FROM scheduled_instructions AS i
  JOIN called_computations AS c
    ON c.module_id = i.module_id
    AND c.instruction_id = i.instruction_id
  JOIN scheduled_instructions AS r
    ON r.module_id = c.module_id
    AND r.computation_id = c.computation_id
    AND r.is_root
  SEMI JOIN widening AS w ON w.module_id = i.module_id
  WHERE i.opcode = 'fusion'
    AND i.shape LIKE 'f32[%'
),
widened AS (
  SELECT module_id, instruction_id FROM widening
  UNION
  SELECT m.module_id, m.instruction_id
  FROM widened AS w
  JOIN moves AS m
    ON m.module_id = w.module_id
    AND m.source_id = w.instruction_id
)
SELECT
  v.module_id, v.value_id,
  coalesce(i.op_name, '') = '' AND (
    (v.module_id, v.instruction_id) IN (
      SELECT (c.module_id, c.instruction_id) FROM widening AS c
    )
    OR (v.module_id, v.instruction_id) IN (
      SELECT (m.module_id, m.instruction_id)
      FROM moves AS m
      JOIN widening AS c
        ON c.module_id = m.module_id
        AND c.instruction_id = m.source_id
      JOIN operands AS o
        ON o.module_id = m.module_id
        AND o.instruction_id = m.instruction_id
      JOIN scheduled_instructions AS s
        ON s.module_id = o.module_id
        AND s.instruction_id = o.operand_id
        AND regexp_matches(s.shape, '^b?f16\[')
      WHERE m.is_fusion
    )
  ) AS is_plain
FROM arrays AS v
SEMI JOIN widened AS w
  ON w.module_id = v.module_id
  AND w.instruction_id = v.instruction_id
JOIN scheduled_instructions AS i
  ON i.module_id = v.module_id
  AND i.instruction_id = v.instruction_id
WHERE v.element_type = 'f32'
