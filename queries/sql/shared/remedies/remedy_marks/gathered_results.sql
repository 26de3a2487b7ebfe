-- step: Results of which every device has its part, and that are gathered to
--   be returned whole; new weights and state have the dimensions of old ones.
-- grain: value
SELECT DISTINCT v.module_id, v.value_id
FROM result_places() AS r
JOIN arrays AS v
  ON v.module_id = r.module_id
  AND v.allocation_id = r.allocation_id
  AND v.value_id = r.value_id
ANTI JOIN argument_places AS p
  ON p.module_id = r.module_id
  AND p.allocation_id = r.allocation_id
ANTI JOIN argument_sizes AS a
  ON a.module_id = v.module_id
  AND a.sizes = list_sort(string_split(v.dimensions, ','))
WHERE v.kind = 'live_out'
  AND v.opcode IN ('all-gather', 'all-gather-done')
