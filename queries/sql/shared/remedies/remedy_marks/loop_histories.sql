-- step: Arrays of several dimensions that a loop fills with a part for each
--   iteration.
-- grain: loop, value
WITH stacked AS (
  SELECT
    l.module_id, l.loop_id, l.loop_name, l.value_id, l.allocation_id,
    l.offset_bytes, l.size_bytes, l.kind, l.dimensions, l.element_type
  FROM loop_arrays AS l
  WHERE l.dimensions LIKE '%,%'
)
SELECT s.*
FROM stacked AS s
SEMI JOIN (
  SELECT DISTINCT s.module_id, s.loop_id, s.value_id
  FROM stacked AS s
  JOIN described_values AS d
    ON d.module_id = s.module_id
    AND d.allocation_id = s.allocation_id
    AND d.offset_bytes = s.offset_bytes
    AND d.dimensions = s.dimensions
  WHERE d.instruction LIKE '%dynamic-update-slice%'
    OR d.opcode = 'dynamic-update-slice'
    OR d.name LIKE '%dynamic_update_slice%'
) AS f USING (module_id, loop_id, value_id)
