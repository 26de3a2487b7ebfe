-- step: Arrays that loops carry and change, by element. A part that
--   a loop only reads has no value of its own there.
-- grain: loop, value
SELECT
  s.module_id, s.instruction_id AS loop_id, s.instruction AS loop_name,
  v.value_id, v.instruction_id, v.allocation_id, v.offset_bytes,
  v.dimensions, v.element_type, v.size_bytes, v.kind, v.shape
FROM (
  SELECT DISTINCT i.module_id, i.instruction_id, i.instruction
  FROM described_values AS i
  WHERE i.opcode = 'while'
) AS s
JOIN arrays AS v
  ON v.module_id = s.module_id
  AND v.instruction_id = s.instruction_id
