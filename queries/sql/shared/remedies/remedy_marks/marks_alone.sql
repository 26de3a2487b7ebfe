-- step: Arrays with marks that say all: no subject, no part of the bytes, and
--   no steps of their own.
-- grain: value, mark
SELECT DISTINCT b.module_id, b.value_id, 'activation' AS mark
FROM batch_arrays AS b
UNION ALL
SELECT s.module_id, s.value_id, s.mark FROM shaped_arrays AS s
UNION ALL
SELECT r.module_id, r.value_id, 'spectrum' FROM real_spectra AS r
UNION ALL
SELECT c.module_id, c.value_id, 'chunkable' FROM chunkable_arrays AS c
UNION ALL
SELECT g.module_id, g.value_id, 'whole_result' FROM gathered_results AS g
UNION ALL
SELECT v.module_id, v.value_id, 'rounded'
FROM arrays AS v
JOIN program_traits AS t
  ON t.module_id = v.module_id
  AND t.platform IS DISTINCT FROM 'cpu'
  AND NOT t.is_exact
UNION ALL
SELECT v.module_id, v.value_id, 'wide'
FROM arrays AS v
SEMI JOIN narrow_programs AS n ON n.module_id = v.module_id
ANTI JOIN argument_sizes AS a
  ON a.module_id = v.module_id
  AND a.sizes = list_sort(string_split(v.dimensions, ','))
WHERE v.kind IN ('temp', 'live_out')
  AND v.element_type = 'f32'
  AND v.dimensions LIKE '%,%'
UNION ALL
SELECT v.module_id, v.value_id, 'given'
FROM arrays AS v
LEFT JOIN positional_arrays AS i
  ON i.module_id = v.module_id
  AND i.value_id = v.value_id
ANTI JOIN windowed_arrays AS w
  ON w.module_id = v.module_id
  AND w.value_id = v.value_id
WHERE v.dimensions <> ''
  AND (v.kind = 'constant' OR i.value_id IS NOT NULL)
