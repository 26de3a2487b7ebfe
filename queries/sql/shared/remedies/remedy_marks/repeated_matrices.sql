-- step: Matrices of which a product reads a copy for each row, gathered by
--   index from a few.
-- grain: value
SELECT DISTINCT v.module_id, v.value_id
FROM multiplied_arrays AS v
JOIN scheduled_instructions AS g
  ON g.module_id = v.module_id
  AND g.instruction_id = v.maker_id
JOIN operands AS o
  ON o.module_id = g.module_id
  AND o.instruction_id = g.instruction_id
  AND o.operand_index = 0
JOIN scheduled_instructions AS t
  ON t.module_id = o.module_id
  AND t.instruction_id = o.operand_id
WHERE g.opcode = 'gather'
  AND regexp_matches(t.shape, '^\w+\[\d+,\d+,\d+')
  AND 64 * t.logical_bytes <= g.logical_bytes
