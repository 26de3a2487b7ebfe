-- step: Arrays that would be kept longer: without one clone, by its number,
--   and without any, NULL.
-- grain: case, value
WITH cases AS (
  SELECT *, FALSE AS is_of_all FROM clone_arrays
  UNION ALL
  SELECT *, TRUE FROM clone_arrays WHERE NOT is_unneeded
),
followed AS (
  SELECT
    *,
    CASE WHEN NOT is_of_all THEN instruction_id END AS clone_id,
    lag(value_id) OVER (
      PARTITION BY
        module_id, computation_id, original, shape_index, dimensions, is_of_all
      ORDER BY start_step, value_id
    ) AS kept_id
  FROM cases
)
SELECT
  c.module_id, c.clone_id, k.color AS space_color, k.value_id, k.name,
  k.size_bytes, k.end_step AS after_step,
  greatest(c.start_step, k.end_step + 1) AS before_step
FROM followed AS c
JOIN clone_arrays AS k
  ON k.module_id = c.module_id
  AND k.value_id = c.kept_id
WHERE c.is_clone
