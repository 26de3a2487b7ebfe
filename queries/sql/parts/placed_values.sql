-- title: Values with their place and their live range
-- question: Where does each value lie, and when is it live?
-- definition: allocation_values joined to its allocation, its value and the
--   value's live range, of every module of the chosen run and program, each
--   content once. Values without a live range have NULL steps.
-- grain: module content, allocation, value
-- needs: chosen_modules, allocations, allocation_values, values, live_ranges,
--   instructions
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
  a.module_id, a.allocation_id, a.kind, a.color,
  a.size_bytes AS allocation_bytes, s.value_id, v.instruction_id,
  i.name AS instruction, v.shape_index, v.shape, v.is_phi, s.offset_bytes,
  s.size_bytes, v.logical_bytes, l.start_step, l.end_step
FROM (
  SELECT DISTINCT module_id
  FROM chosen_modules(run := $run, program := $program)
) AS m
JOIN allocations AS a USING (module_id)
JOIN allocation_values AS s USING (module_id, allocation_id)
LEFT JOIN store."values" AS v USING (module_id, value_id)
LEFT JOIN store.live_ranges AS l USING (module_id, value_id)
-- The views of values and ranges would look up the names of all modules first.
LEFT JOIN store.instructions AS i
  ON i.module_id = v.module_id
  AND i.instruction_id = v.instruction_id
