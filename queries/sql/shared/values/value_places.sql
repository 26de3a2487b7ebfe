-- title: Allocation, offset and live range of every value
-- question: Where is each value placed, and when is it live?
-- definition: allocation_values joined to its allocation, its value and the
--   value's live range, of every module of the selected run and program, each
--   content once. Values without a live range have NULL steps.
-- grain: module content, allocation, value
-- param run
-- param program
-- param module_ids
-- param every_run
-- column module_id
-- column allocation_id
-- column kind
-- column color
-- column allocation_bytes BIGINT bytes neutral: Size of the allocation.
-- column value_id
-- column instruction_id
-- column shape_index
-- column shape
-- column is_phi BOOLEAN flag neutral: Whether it merges values, as a while
--   result does.
-- column offset_bytes
-- column size_bytes
-- column logical_bytes
-- column start_step
-- column end_step
WITH chosen AS MATERIALIZED (
  SELECT module_id
  FROM selected_contents()
),
-- Each is fixed, and of the chosen modules alone: else allocations meet values
-- by module, and a few rows the values and ranges of all modules.
placed AS MATERIALIZED (
  SELECT
    a.module_id, a.allocation_id, a.kind, a.color,
    a.size_bytes AS allocation_bytes, s.value_id, s.offset_bytes, s.size_bytes
  FROM chosen AS m
  JOIN allocations AS a USING (module_id)
  JOIN allocation_values AS s USING (module_id, allocation_id)
  WHERE NOT $every_run
    OR list_contains($module_ids, s.module_id)
),
defined AS MATERIALIZED (
  SELECT
    v.module_id, v.value_id, v.instruction_id, v.shape_index, v.shape,
    v.is_phi, v.logical_bytes
  FROM chosen AS m
  JOIN store."values" AS v USING (module_id)
  WHERE NOT $every_run
    OR list_contains($module_ids, v.module_id)
),
ranges AS MATERIALIZED (
  SELECT l.module_id, l.value_id, l.start_step, l.end_step
  FROM chosen AS m
  JOIN store.live_ranges AS l USING (module_id)
  WHERE NOT $every_run
    OR list_contains($module_ids, l.module_id)
)
SELECT
  p.module_id, p.allocation_id, p.kind, p.color, p.allocation_bytes,
  p.value_id, v.instruction_id, v.shape_index, v.shape, v.is_phi,
  p.offset_bytes, p.size_bytes, v.logical_bytes, l.start_step, l.end_step
FROM placed AS p
LEFT JOIN defined AS v USING (module_id, value_id)
LEFT JOIN ranges AS l USING (module_id, value_id)
