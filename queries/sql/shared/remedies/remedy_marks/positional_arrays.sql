-- step: Temporary arrays that are computed from positions or large constants
--   alone, at once or in two steps.
-- grain: value
WITH sources AS MATERIALIZED (
  SELECT
    i.module_id, i.instruction_id, i.opcode, p.operand_id,
    o.opcode = 'constant' AS is_constant
  FROM scheduled_instructions AS i
  LEFT JOIN operands AS p
    ON p.module_id = i.module_id
    AND p.instruction_id = i.instruction_id
  LEFT JOIN scheduled_instructions AS o
    ON o.module_id = p.module_id
    AND o.instruction_id = p.operand_id
  WHERE i.schedule_step IS NOT NULL
    AND i.opcode IN ('fusion', 'iota', 'broadcast', 'compare', 'select')
),
counting_computations AS MATERIALIZED (
  SELECT DISTINCT i.module_id, i.computation_id
  FROM scheduled_instructions AS i
  WHERE i.opcode = 'iota'
),
placed_by_index AS MATERIALIZED (
  SELECT s.module_id, s.instruction_id
  FROM sources AS s
  LEFT JOIN called_computations AS c
    ON c.module_id = s.module_id
    AND c.instruction_id = s.instruction_id
  LEFT JOIN counting_computations AS i
    ON i.module_id = c.module_id
    AND i.computation_id = c.computation_id
  LEFT JOIN described_values AS k
    ON k.module_id = s.module_id
    AND k.instruction_id = s.operand_id
    AND k.kind = 'constant'
    AND k.dimensions LIKE '%,%'
  GROUP BY s.module_id, s.instruction_id
  HAVING bool_and(s.operand_id IS NULL OR s.is_constant)
    AND (
      bool_or(s.opcode = 'iota') OR bool_or(i.computation_id IS NOT NULL)
      OR bool_or(k.value_id IS NOT NULL)
    )
)
SELECT v.module_id, v.value_id
FROM arrays AS v
JOIN (
  FROM placed_by_index
  UNION
  SELECT s.module_id, s.instruction_id
  FROM sources AS s
  LEFT JOIN placed_by_index AS p
    ON p.module_id = s.module_id
    AND p.instruction_id = s.operand_id
  GROUP BY s.module_id, s.instruction_id
  HAVING bool_and(
    p.instruction_id IS NOT NULL OR coalesce(s.is_constant, FALSE)
  )
  AND bool_or(p.instruction_id IS NOT NULL)
) AS p
  ON p.module_id = v.module_id
  AND p.instruction_id = v.instruction_id
WHERE v.kind = 'temp'
