-- Bytes of entry parameters of at least $least bytes that every device holds
-- whole, of the snapshots $modules, which many modules and runs may share.
SELECT m.module_id, sum(i.logical_bytes) AS replicated_bytes
FROM (
  SELECT DISTINCT module_id, entry_computation_id
  FROM modules
  WHERE module_id IN (SELECT unnest(from_json($modules, '["BIGINT"]')))
) AS m
JOIN instructions AS i
  ON i.module_id = m.module_id
  AND i.computation_id = m.entry_computation_id
JOIN sharding_splits() AS s USING (sharding)
WHERE i.opcode = 'parameter'
  AND s.shards = 1
  AND i.logical_bytes >= $least
GROUP BY m.module_id
ORDER BY m.module_id
