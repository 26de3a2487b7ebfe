-- step: Of each axis the dimension of the largest argument, with its name.
-- grain: model
SELECT
  m.model, arg_max(
    coalesce(nullif(f.op_name, ''), m.dimension.argument) || m.dimension.place,
    (coalesce(f.logical_bytes, -1), -CAST(m.dimension.argument AS INTEGER))
  ) AS axis_name
FROM (
  SELECT
    model, base_id,
    unnest(list_transform(
      regexp_extract_all(axis, '[0-9]+\[[0-9]+\]'), lambda x: {
        argument: split_part(x, '[', 1), place: '[' || split_part(x, '[', 2)
      }
    )) AS dimension
  FROM size_models
) AS m
JOIN store.snapshots AS s ON s.module_id = m.base_id
LEFT JOIN (
  SELECT
    i.module_id, i.computation_id, p.op_name, p.logical_bytes,
    CAST(p.parameter_number AS VARCHAR) AS argument
  FROM store.instructions AS i
  JOIN store.instruction_forms AS p USING (form_id)
  WHERE p.opcode = 'parameter'
) AS f
  ON f.module_id = s.module_id
  AND f.computation_id = s.entry_computation_id
  AND f.argument = m.dimension.argument
GROUP BY m.model
