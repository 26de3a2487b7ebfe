-- Where the results of the modules $modules lie.
WITH wanted AS MATERIALIZED (
  -- A module's content stands in many runs.
  SELECT DISTINCT m.module_id, m.entry_computation_id
  FROM store.snapshots AS m
  WHERE m.module_id IN (SELECT unnest(from_json($modules, '["BIGINT"]')))
),
roots AS MATERIALIZED (
  SELECT m.module_id, c.root_instruction_id
  FROM wanted AS m
  JOIN computations AS c
    ON c.module_id = m.module_id
    AND c.computation_id = m.entry_computation_id
)
SELECT DISTINCT
  p.module_id, coalesce(p.shape_index, '{}') AS output_index, a.allocation_id,
  a.color, a.kind, a.parameter_number, a.size_bytes,
  regexp_replace(v.shape, '\{[^}]*\}', '', 'g') AS array_type
FROM roots AS m
JOIN store.value_positions AS p
  ON p.module_id = m.module_id
  AND p.instruction_id = m.root_instruction_id
JOIN store."values" AS v
  ON v.module_id = p.module_id
  AND v.value_id = p.value_id
JOIN allocation_values AS s
  ON s.module_id = p.module_id
  AND s.value_id = p.value_id
JOIN allocations AS a
  ON a.module_id = s.module_id
  AND a.allocation_id = s.allocation_id
ORDER BY ALL
