-- step: Temporary arrays of several dimensions that loops are given, each with
--   such a loop.
-- grain: loop, value
SELECT DISTINCT
  v.module_id, v.value_id, w.instruction_id AS loop_id,
  w.instruction AS loop_name
FROM described_values AS w
JOIN store.value_positions AS p
  ON p.module_id = w.module_id
  AND p.instruction_id = w.instruction_id
JOIN arrays AS v
  ON v.module_id = p.module_id
  AND v.value_id = p.value_id
WHERE w.opcode = 'while'
  AND v.kind = 'temp'
  AND v.dimensions LIKE '%,%'
  AND v.opcode NOT IN ('while', 'parameter', 'conditional', 'broadcast')
