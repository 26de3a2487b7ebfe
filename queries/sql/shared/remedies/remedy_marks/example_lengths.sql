-- step: How many examples a program may be given: the first dimension of an
--   input, in programs on one device that compute forward alone, or keep
--   little for the backward pass. Not what an operation needs at once that has
--   no chunks, as on a matrix of all pairs.
-- grain: program, length
SELECT
  a.module_id,
  TRY_CAST(split_part(a.dimensions, ',', 1) AS BIGINT) AS length,
  sum(v.size_bytes) AS given_bytes
FROM arguments AS a
JOIN arrays AS v
  ON v.module_id = a.module_id
  AND v.value_id = a.value_id
JOIN modules AS m ON m.module_id = a.module_id
JOIN program_traits AS t ON t.module_id = a.module_id
-- Such an operation on all examples at once, as on a matrix of all pairs.
ANTI JOIN (
  SELECT
    module_id, unnest(regexp_extract_all(shape, '[0-9]+')) AS side
  FROM scheduled_instructions
  WHERE is_exact
    AND coalesce(op_name, '') NOT LIKE '%vmap(%'
) AS e
  ON e.module_id = a.module_id
  AND e.side = split_part(a.dimensions, ',', 1)
WHERE a.is_input
  AND a.dimensions LIKE '%,%'
  AND coalesce(m.num_partitions, 1) = 1
  AND (NOT t.has_backward OR t.platform = 'cpu')
GROUP BY a.module_id, split_part(a.dimensions, ',', 1)
HAVING length >= 16
