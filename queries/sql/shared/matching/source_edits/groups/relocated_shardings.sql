-- step: The sharding of the largest array of a group that moved there, or
--   away, where it has another one now.
-- grain: pair, file, function
SELECT
  g.pair, g.source_file, g.function_name,
  arg_max(r.base_sharding, (g.size_bytes, -g.instruction_id))
    AS base_sharding,
  arg_max(r.candidate_sharding, (g.size_bytes, -g.instruction_id))
    AS candidate_sharding
FROM grouped_operations AS g
JOIN relocated_operations AS r USING (pair, is_candidate, operation, shape)
JOIN programs AS p USING (pair, is_candidate)
WHERE p.has_same_partitions
  AND r.base_sharding IS NOT NULL
  AND r.candidate_sharding IS NOT NULL
GROUP BY g.pair, g.source_file, g.function_name
