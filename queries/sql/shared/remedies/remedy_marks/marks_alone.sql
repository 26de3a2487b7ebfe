-- step: Arrays with marks that say all: no subject and no steps of their own,
--   and of scores that are saved alone how many of their bytes are freed.
-- grain: value, mark
SELECT DISTINCT
  b.module_id, b.value_id,
  CASE WHEN b.is_micro THEN 'micro_activation' ELSE 'activation' END AS mark,
  CAST(NULL AS BIGINT) AS part, CAST(NULL AS BIGINT) AS whole
FROM halved_arrays AS b
UNION ALL
SELECT s.module_id, s.value_id, s.mark, s.part, s.whole FROM shaped_arrays AS s
UNION ALL
SELECT r.module_id, r.value_id, 'spectrum', NULL, NULL FROM real_spectra AS r
UNION ALL
SELECT p.module_id, p.value_id, 'product_chain', NULL, NULL
FROM product_chains AS p
UNION ALL
SELECT p.module_id, p.value_id, 'selected_product', NULL, NULL
FROM selected_products AS p
UNION ALL
SELECT m.module_id, m.value_id, 'repeated_matrix', NULL, NULL
FROM repeated_matrices AS m
UNION ALL
SELECT r.module_id, r.value_id, 'repeated_part', NULL, NULL
FROM repeated_parts AS r
UNION ALL
SELECT
  o.module_id, o.value_id,
  CASE WHEN o.is_summed THEN 'summed_one_hot' ELSE 'one_hot' END, NULL, NULL
FROM one_hot_arrays AS o
UNION ALL
SELECT g.module_id, g.value_id, 'whole_result', NULL, NULL
FROM gathered_results AS g
UNION ALL
SELECT v.module_id, v.value_id, 'rounded', NULL, NULL
FROM arrays AS v
JOIN program_traits AS t
  ON t.module_id = v.module_id
  AND t.platform IS DISTINCT FROM 'cpu'
  AND NOT t.is_exact
UNION ALL
SELECT
  v.module_id, v.value_id,
  CASE WHEN x.module_id IS NULL THEN 'wide' ELSE 'wide_softmax' END, NULL, NULL
FROM arrays AS v
LEFT JOIN softmax_dimensions AS x
  ON x.module_id = v.module_id
  AND x.dimensions = v.dimensions
SEMI JOIN narrow_programs AS n ON n.module_id = v.module_id
ANTI JOIN argument_sizes AS a
  ON a.module_id = v.module_id
  AND a.sizes = list_sort(string_split(v.dimensions, ','))
ANTI JOIN widened_arrays AS w
  ON w.module_id = v.module_id
  AND w.value_id = v.value_id
WHERE v.kind IN ('temp', 'live_out')
  AND v.element_type = 'f32'
  AND v.dimensions LIKE '%,%'
UNION ALL
SELECT v.module_id, v.value_id, 'given', NULL, NULL
FROM arrays AS v
LEFT JOIN positional_arrays AS i
  ON i.module_id = v.module_id
  AND i.value_id = v.value_id
ANTI JOIN windowed_arrays AS w
  ON w.module_id = v.module_id
  AND w.value_id = v.value_id
WHERE v.dimensions <> ''
  AND (v.kind = 'constant' OR i.value_id IS NOT NULL)
