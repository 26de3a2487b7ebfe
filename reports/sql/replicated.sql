-- Bytes of entry parameters of at least $least bytes that every device holds whole, in
-- the partitioned modules $modules; $sources are the snapshots they were compiled from.
WITH wanted AS (
  SELECT
    unnest(from_json($modules, '["BIGINT"]')) AS module_id,
    unnest(from_json($sources, '["BIGINT"]')) AS source_id
)
SELECT w.module_id, sum(i.logical_bytes) AS replicated_bytes
FROM wanted AS w
JOIN modules AS m
  ON m.module_id = w.source_id
JOIN instructions AS i
  ON i.module_id = m.module_id
  AND i.computation_id = m.entry_computation_id
WHERE i.opcode = 'parameter'
  AND i.sharding = '{replicated}'
  AND i.logical_bytes >= $least
GROUP BY w.module_id
ORDER BY w.module_id
