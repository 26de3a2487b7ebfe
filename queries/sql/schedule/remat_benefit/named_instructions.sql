-- step: Instructions of programs with buffer assignments; clones are those
--   that rematerialisation adds.
-- grain: instruction
SELECT
  i.module_id, i.instruction_id, i.computation_id, i.name, f.opcode,
  f.op_name, coalesce(t.array_bytes, f.logical_bytes) AS result_bytes,
  i.schedule_step,
  regexp_replace(i.name, '\.remat.*$', '') AS original,
  contains(i.name, '.remat') AND NOT contains(i.name, '.remat_')
    AND f.opcode NOT IN (
      'parameter', 'constant', 'tuple', 'get-tuple-element'
    ) AS is_clone
FROM (
  SELECT DISTINCT module_id
  FROM selected_memory()
) AS m
JOIN store.instructions AS i USING (module_id)
JOIN store.instruction_forms AS f USING (form_id)
LEFT JOIN tuple_sizes() AS t USING (shape)
