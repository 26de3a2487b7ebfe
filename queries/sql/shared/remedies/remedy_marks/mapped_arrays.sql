-- step: Temporary arrays with a part for each example, outside of loops but
--   those that run for every example. Their names tell of vmap: other
--   operations on a first dimension, such as statistics and scans over time,
--   need not fall into examples.
-- grain: value
WITH RECURSIVE mapped AS MATERIALIZED (
  SELECT v.module_id, v.value_id
  FROM arrays AS v
  LEFT JOIN jacobian_programs AS j USING (module_id)
  WHERE v.name LIKE '%vmap(%'
    -- They may be columns of a Jacobian, which are there for no example.
    AND (
      j.module_id IS NOT NULL
      OR NOT regexp_matches(v.name, 'vmap\((jvp|transpose)\(')
    )
),
made_of_mapped AS MATERIALIZED (
  SELECT module_id, value_id FROM mapped
  UNION
  SELECT v.module_id, v.value_id
  FROM mapped AS m
  JOIN store.value_uses AS u USING (module_id, value_id)
  JOIN arrays AS v
    ON v.module_id = u.module_id
    AND v.instruction_id = u.instruction_id
  WHERE v.name = ''
)
SELECT
  v.module_id, v.value_id, v.size_bytes, v.start_step, v.end_step,
  list_transform(
    string_split(v.dimensions, ','), lambda x: TRY_CAST(x AS BIGINT)
  ) AS sides
FROM arrays AS v
JOIN scheduled_instructions AS i
  ON i.module_id = v.module_id
  AND i.instruction_id = v.instruction_id
JOIN computations AS c
  ON c.module_id = i.module_id
  AND c.computation_id = i.computation_id
SEMI JOIN example_lengths AS l ON l.module_id = v.module_id
SEMI JOIN made_of_mapped AS p
  ON p.module_id = v.module_id
  AND p.value_id = v.value_id
ANTI JOIN argument_sizes AS a
  ON a.module_id = v.module_id
  AND a.sizes = list_sort(string_split(v.dimensions, ','))
WHERE v.kind = 'temp'
  AND v.dimensions LIKE '%,%'
  AND (
    c.kind = 'entry'
    OR strpos(v.name, 'vmap(') BETWEEN 1 AND strpos(v.name, '/while/body')
  )
  AND v.opcode NOT IN ('while', 'conditional', 'call')
