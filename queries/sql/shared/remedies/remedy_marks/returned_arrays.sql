-- step: Arrays that are results in memory of their own.
-- grain: value
SELECT DISTINCT v.*
FROM result_places() AS r
JOIN arrays AS v
  ON v.module_id = r.module_id
  AND v.allocation_id = r.allocation_id
  AND v.value_id = r.value_id
WHERE v.kind = 'live_out'
