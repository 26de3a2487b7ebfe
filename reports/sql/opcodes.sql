-- How often each opcode stands in the modules $modules.
SELECT i.module_id, coalesce(i.opcode, '') AS opcode, count(*) AS instruction_count
FROM instructions AS i
WHERE i.module_id IN (SELECT unnest(from_json($modules, '["BIGINT"]')))
  AND i.computation_id IS NOT NULL
GROUP BY ALL
ORDER BY ALL
