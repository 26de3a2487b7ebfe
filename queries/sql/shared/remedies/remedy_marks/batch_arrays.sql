-- step: Arrays that grow with the batch of a program that replaces arguments:
--   inputs, and temporary arrays of other dimensions than any argument. From
--   8 rows on, half of a batch that fills no 8 is not less: for convolutions a
--   TPU's compiler then moves space into the batch.
-- grain: value
SELECT v.module_id, v.value_id
FROM arrays AS v
JOIN program_traits AS t
  ON t.module_id = v.module_id
  AND t.has_backward
JOIN batch_sizes AS b
  ON b.module_id = v.module_id
  AND b.batch % 2 = 0
  AND NOT (t.platform = 'tpu' AND t.has_windows AND b.batch BETWEEN 8 AND 15)
SEMI JOIN updating_programs AS u ON u.module_id = v.module_id
SEMI JOIN argument_sizes AS w ON w.module_id = v.module_id
ANTI JOIN argument_sizes AS a
  ON a.module_id = v.module_id
  AND a.sizes = list_sort(string_split(v.dimensions, ','))
ANTI JOIN gathered_values() AS g
  ON g.module_id = v.module_id
  AND g.value_id = v.value_id
LEFT JOIN arguments AS i
  ON i.module_id = v.module_id
  AND i.allocation_id = v.allocation_id
WHERE v.dimensions LIKE '%,%'
  AND (v.kind = 'temp' OR coalesce(i.is_input, FALSE))
