-- step: Complex arrays that hold real numbers converted for a Fourier
--   transform, and those of their shape.
-- grain: value
WITH complex_arrays AS MATERIALIZED (
  SELECT
    v.module_id, v.value_id, v.instruction_id, v.name, v.dimensions,
    v.element_type
  FROM arrays AS v
  WHERE v.kind = 'temp'
    AND v.dimensions LIKE '%,%'
    AND v.element_type IN ('c64', 'c128')
),
converted AS MATERIALIZED (
  SELECT DISTINCT c.module_id, c.dimensions, c.element_type
  FROM complex_arrays AS c
  JOIN operands AS r
    ON r.module_id = c.module_id
    AND r.operand_id = c.instruction_id
  JOIN scheduled_instructions AS i
    ON i.module_id = r.module_id
    AND i.instruction_id = r.instruction_id
  WHERE c.name LIKE '%/convert_element_type'
    AND i.opcode = 'fft'
)
SELECT c.module_id, c.value_id
FROM complex_arrays AS c
SEMI JOIN converted AS r
  ON r.module_id = c.module_id
  AND r.dimensions = c.dimensions
  AND r.element_type = c.element_type
