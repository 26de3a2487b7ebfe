-- How often each opcode gives each shape, layouts aside, in the modules $modules.
SELECT
  i.module_id,
  coalesce(i.opcode, '') || ' '
    || coalesce(regexp_replace(i.shape, '\{[^{}]*\}', '', 'g'), '') AS typed_opcode,
  count(*) AS instruction_count
FROM instructions AS i
WHERE i.module_id IN (SELECT unnest(from_json($modules, '["BIGINT"]')))
  AND i.computation_id IS NOT NULL
GROUP BY ALL
ORDER BY ALL
