-- step: Values of the greatest size, with the dimensions that they have in the
--   next one; NULL for those that it lacks.
-- grain: model, value, place
SELECT
  m.model, m.space_color, m.base_size, m.lesser_size, m.base_temp_bytes,
  g.value_id, g.color = m.space_color AS is_main, g.kind, g.allocation_id,
  g.allocation_bytes, g.offset_bytes, g.size_bytes, g.start_step, g.end_step,
  g.sizes, g.tile, g.minor_to_major, l.sizes AS lesser_sizes,
  row_number() OVER (ORDER BY m.model, g.value_id, g.allocation_id) AS place
FROM size_models AS m
JOIN sized_values AS g ON g.module_id = m.base_id
LEFT JOIN sized_values AS l
  ON l.module_id = m.lesser_id
  AND l.opcode = g.opcode
  AND l.op_name = g.op_name
  AND l.element_type = g.element_type
  AND len(l.sizes) = len(g.sizes)
  AND l.shape_index IS NOT DISTINCT FROM g.shape_index
  AND l.alike_count = g.alike_count
  AND l.ordinal = g.ordinal
