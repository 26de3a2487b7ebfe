-- step: Values of the sets with the steps for which they are freed.
-- grain: set, value
SELECT
  o.set_id, v.module_id, v.allocation_id, v.value_id, v.kind,
  v.allocation_bytes, v.offset_bytes, v.size_bytes,
  v.start_step AS first_step,
  v.end_step AS final_step,
  greatest(v.start_step, m.from_step) AS start_step,
  least(v.end_step, m.until_step) AS end_step
FROM sets AS o
JOIN set_members AS m
  ON m.module_id = o.module_id
  AND m.locations_id IS NOT DISTINCT FROM o.locations_id
  AND m.name_of_set = o.name_of_set
JOIN space_values AS v
  ON v.module_id = m.module_id
  AND v.value_id = m.value_id
  AND v.color = o.space_color
