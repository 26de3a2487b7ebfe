-- step: Results that replace no argument, in programs that replace some.
-- grain: value
SELECT DISTINCT v.*
FROM result_places() AS r
JOIN arrays AS v
  ON v.module_id = r.module_id
  AND v.allocation_id = r.allocation_id
  AND v.value_id = r.value_id
SEMI JOIN updating_programs AS u ON u.module_id = v.module_id
ANTI JOIN argument_places AS p
  ON p.module_id = v.module_id
  AND p.allocation_id = v.allocation_id
WHERE v.kind = 'live_out'
