-- step: Matrices of which a product reads a copy for each row, gathered by
--   index from a few.
-- grain: value
WITH gathers AS MATERIALIZED (
  SELECT g.module_id, g.instruction_id, g.computation_id, g.logical_bytes
  FROM scheduled_instructions AS g
  JOIN operands AS o USING (module_id, instruction_id)
  JOIN scheduled_instructions AS t
    ON t.module_id = o.module_id
    AND t.instruction_id = o.operand_id
  WHERE g.opcode = 'gather'
    AND o.operand_index = 0
    AND regexp_matches(t.shape, '^\w+\[\d+,\d+,\d+')
    AND 64 * t.logical_bytes <= g.logical_bytes
),
makers AS (
  SELECT module_id, instruction_id, logical_bytes FROM gathers
  UNION
  SELECT c.module_id, c.instruction_id, g.logical_bytes
  FROM called_computations AS c
  JOIN gathers AS g USING (module_id, computation_id)
)
SELECT DISTINCT v.module_id, v.value_id
FROM arrays AS v
JOIN makers AS m
  ON m.module_id = v.module_id
  AND m.instruction_id = v.instruction_id
  AND m.logical_bytes = v.logical_bytes
JOIN store.value_uses AS u
  ON u.module_id = v.module_id
  AND u.value_id = v.value_id
SEMI JOIN multiplying_instructions AS p
  ON p.module_id = u.module_id
  AND p.instruction_id = u.instruction_id
WHERE v.kind = 'temp'
