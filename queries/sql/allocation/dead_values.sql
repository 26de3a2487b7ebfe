-- title: Unused values
-- question: Which values are written to memory and never read?
-- definition: Values of temporary allocations that have a live range and no
--   use, and that appear nowhere but at their definition. Left out are values
--   of 0 bytes; tables of pointers of tuples, unless tuples is true; values
--   passed to a loop's condition that it does not read, and the condition's
--   result; values that fusions of async_collectives pass on; and the
--   workspace of custom calls (custom_call_inventory).
-- grain: module occurrence, value
-- leading: program, space_name, instruction, size_bytes, opcode, source_file,
--   source_line, shape
-- param run
-- param program
-- param color
-- param tuples BOOLEAN = false: Also the pointer tables of tuples.
-- param top
-- column run
-- column program
-- column module_number
-- column rank
-- column color
-- column space_name
-- column instruction
-- column shape_index
-- column opcode
-- column shape
-- column size_bytes BIGINT bytes lower_is_better: Size in memory, padding
--   included.
-- column start_step
-- column end_step
-- column op_name
-- column source_file
-- column source_line
WITH carriers AS (
  SELECT DISTINCT module_id, fusion_id
  FROM async_collectives()
)
SELECT
  m.run, m.program, m.module_number, m.rank, m.color, m.space_name,
  v.instruction, v.shape_index, i.opcode, v.shape, v.size_bytes, v.start_step,
  v.end_step, i.op_name, s.source_file, s.source_line
FROM selected_memory() AS m
JOIN placed_values() AS v
  USING (module_id, color)
ANTI JOIN store.value_uses AS u
  ON u.module_id = v.module_id
  AND u.value_id = v.value_id
ANTI JOIN store.value_positions AS p
  ON p.module_id = v.module_id
  AND p.value_id = v.value_id
  AND p.ordinal > 0
LEFT JOIN selected_instructions() AS i
  ON i.module_id = v.module_id
  AND i.instruction_id = v.instruction_id
LEFT JOIN computations AS n
  ON n.module_id = i.module_id
  AND n.computation_id = i.computation_id
LEFT JOIN carriers AS c
  ON c.module_id = i.module_id
  AND c.fusion_id = i.instruction_id
LEFT JOIN instruction_sources() AS s
  ON s.module_id = m.module_id
  AND s.locations_id = m.locations_id
  AND s.instruction_id = v.instruction_id
WHERE v.kind = 'temp'
  AND v.start_step IS NOT NULL
  AND v.size_bytes > 0
  AND NOT coalesce(
    n.kind = 'while_condition' AND (i.opcode = 'parameter' OR i.is_root),
    FALSE
  )
  -- In place of an operand: output_to_operand_aliasing={{1}: (0, {}), ...}
  AND NOT coalesce(
    c.fusion_id IS NOT NULL AND contains(i.attributes, v.shape_index || ': ('),
    FALSE
  )
  AND NOT coalesce(
    i.opcode = 'custom-call' AND i.element_type = 'tuple' AND (
      v.shape LIKE 'u8[%'
      OR starts_with(i.custom_call_target, '__cublas')
        AND regexp_matches(v.shape, '^s8\[[0-9]+\]')
    ), FALSE
  )
  AND ($tuples OR v.shape NOT LIKE '(%')
ORDER BY
  v.size_bytes DESC, m.program, m.module_number, m.rank, v.value_id
LIMIT $top
