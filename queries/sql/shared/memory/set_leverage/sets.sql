-- step: Sets with values at the peak of a memory space, numbered.
-- grain: set, memory space
SELECT
  c.module_id, c.locations_id, c.space_color, c.peak_step,
  m.name_of_set, count(v.value_id) AS values_there,
  CAST(coalesce(sum(v.owned_bytes), 0) AS BIGINT) AS bytes_there,
  min(m.part) AS part, min(m.whole) AS whole, min(m.is_apart) AS is_apart,
  row_number() OVER () AS set_id
FROM selected_spaces AS c
JOIN set_members AS m
  ON m.module_id = c.module_id
  AND m.locations_id IS NOT DISTINCT FROM c.locations_id
LEFT JOIN peak_values() AS v
  ON v.module_id = c.module_id
  AND v.color = c.space_color
  AND v.value_id = m.value_id
GROUP BY
  c.module_id, c.locations_id, c.space_color, c.peak_step, m.name_of_set
HAVING count(v.value_id) > 0
  OR max(m.is_apart) = 1
