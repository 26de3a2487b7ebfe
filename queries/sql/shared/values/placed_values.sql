-- title: Values with allocation, offset and live range
-- question: Where is each value placed, and when is it live?
-- definition: value_places with the name of the instruction that defines the
--   value.
-- grain: module content, allocation, value
-- param run
-- param program
-- column module_id
-- column allocation_id
-- column kind
-- column color
-- column allocation_bytes BIGINT bytes neutral: Size of the allocation.
-- column value_id
-- column instruction_id
-- column instruction
-- column shape_index
-- column shape
-- column is_phi BOOLEAN flag neutral: Whether it merges values, as a while
--   result does.
-- column offset_bytes
-- column size_bytes
-- column logical_bytes
-- column start_step
-- column end_step
SELECT
  v.module_id, v.allocation_id, v.kind, v.color, v.allocation_bytes,
  v.value_id, v.instruction_id, i.name AS instruction, v.shape_index, v.shape,
  v.is_phi, v.offset_bytes, v.size_bytes, v.logical_bytes, v.start_step,
  v.end_step
FROM value_places() AS v
LEFT JOIN store.instructions AS i USING (module_id, instruction_id)
