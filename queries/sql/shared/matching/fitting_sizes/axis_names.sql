-- step: The first dimension of each axis, with the name of its argument.
-- grain: model
SELECT
  m.model,
  coalesce(nullif(any_value(f.op_name), ''), any_value(m.argument))
    || any_value(m.dimension) AS axis_name
FROM (
  SELECT
    model, base_id, split_part(axis, '[', 1) AS argument,
    regexp_extract(axis, '^[0-9]+(\[[0-9]+\])', 1) AS dimension
  FROM size_models
) AS m
JOIN store.snapshots AS s ON s.module_id = m.base_id
LEFT JOIN store.instructions AS i
  ON i.module_id = s.module_id
  AND i.computation_id = s.entry_computation_id
LEFT JOIN store.instruction_forms AS f
  ON f.form_id = i.form_id
  AND f.opcode = 'parameter'
  AND CAST(f.parameter_number AS VARCHAR) = m.argument
GROUP BY m.model
