-- step: What a program without a backward pass computes of what jax.vmap
--   makes, for all iterations of a loop before it, each of which reads its
--   part: all that leads to that has a part for each iteration.
-- grain: loop, value
WITH RECURSIVE mapped_lengths AS (
  SELECT v.module_id, split_part(v.dimensions, ',', 1) AS first_side
  FROM arrays AS v
  JOIN program_traits AS t ON t.module_id = v.module_id
  WHERE v.name LIKE '%vmap(%'
    AND v.kind = 'temp'
    AND v.dimensions LIKE '%,%'
    AND NOT t.has_backward
    AND t.partitions = 1
  GROUP BY v.module_id, split_part(v.dimensions, ',', 1)
),
parts AS MATERIALIZED (
  SELECT
    v.module_id, v.value_id, v.instruction_id, w.trip_count AS length,
    r.loop_name
  FROM read_stacks AS r
  JOIN arrays AS v USING (module_id, value_id)
  JOIN loops() AS w
    ON w.module_id = r.module_id
    AND w.instruction_id = r.loop_id
  JOIN mapped_lengths AS m
    ON m.module_id = v.module_id
    AND m.first_side = CAST(w.trip_count AS VARCHAR)
    AND m.first_side = split_part(v.dimensions, ',', 1)
  WHERE w.trip_count >= 16
  UNION
  SELECT v.module_id, v.value_id, v.instruction_id, l.length, l.loop_name
  FROM parts AS l
  JOIN store.value_uses AS u USING (module_id, instruction_id)
  JOIN arrays AS v
    ON v.module_id = u.module_id
    AND v.value_id = u.value_id
    AND v.kind <> 'parameter'
    AND TRY_CAST(split_part(v.dimensions, ',', 1) AS BIGINT) % l.length = 0
),
-- What is computed of all parts and read for each of them, as by a mean.
mixing AS (
  SELECT DISTINCT l.module_id, l.length
  FROM parts AS l
  JOIN store.value_uses AS u USING (module_id, value_id)
  JOIN arrays AS v
    ON v.module_id = u.module_id
    AND v.instruction_id = u.instruction_id
  ANTI JOIN parts AS o
    ON o.module_id = v.module_id
    AND o.value_id = v.value_id
  JOIN store.value_uses AS w
    ON w.module_id = v.module_id
    AND w.value_id = v.value_id
  SEMI JOIN parts AS r
    ON r.module_id = w.module_id
    AND r.instruction_id = w.instruction_id
)
SELECT l.module_id, l.value_id, l.loop_name, l.length
FROM parts AS l
JOIN (
  -- Where another side is as long, parts may be compared with each other.
  SELECT l.module_id, l.length
  FROM parts AS l
  JOIN arrays AS v USING (module_id, value_id)
  GROUP BY l.module_id, l.length
  HAVING NOT bool_or(list_contains(
    string_split(v.dimensions, ',')[2:], CAST(l.length AS VARCHAR)
  ))
    AND bool_or(v.name LIKE '%vmap(%')
) AS p USING (module_id, length)
ANTI JOIN mixing AS m USING (module_id, length)
