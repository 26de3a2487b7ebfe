-- step: Arrays that may grow with the batch of a program that replaces
--   arguments: inputs, and temporary arrays of other dimensions than any
--   argument. halved_arrays says which do. Of
--   two batches the larger one counts, in programs with jax.vmap and without
--   indices as inputs: nodes and edges of a graph are no examples. From
--   8 rows on, half of a batch that fills no 8 is not less: for convolutions a
--   TPU's compiler then moves space into the batch.
-- grain: value
WITH batches AS (
  SELECT b.module_id, b.batch, FALSE AS is_larger FROM batch_sizes AS b
  UNION ALL
  SELECT a.module_id, max(a.first_dimension), TRUE
  FROM (
    SELECT
      module_id, element_type,
      TRY_CAST(split_part(dimensions, ',', 1) AS BIGINT) AS first_dimension
    FROM arguments
    WHERE has_examples
  ) AS a
  SEMI JOIN (
    SELECT module_id FROM arrays WHERE name LIKE '%vmap(%'
  ) AS m
    ON m.module_id = a.module_id
  GROUP BY a.module_id
  HAVING count(DISTINCT a.first_dimension) > 1
    AND bool_and(a.element_type IN ('f32', 'f64', 'bf16', 'f16'))
    AND min(a.first_dimension) > 1
)
SELECT
  v.module_id, v.value_id, v.size_bytes, v.kind, v.instruction_id, b.is_larger,
  list_transform(
    string_split(v.dimensions, ','), lambda x: TRY_CAST(x AS BIGINT)
  ) AS sizes
FROM arrays AS v
JOIN program_traits AS t
  ON t.module_id = v.module_id
  AND t.has_backward
JOIN batches AS b
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
  AND (
    NOT b.is_larger
    OR TRY_CAST(split_part(v.dimensions, ',', 1) AS BIGINT) % b.batch = 0
  )
