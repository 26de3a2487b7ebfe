-- step: Whether the buffers of both sides are known: pruned modules have
--   profiles alone.
-- grain: pair
WITH pruned AS (
  SELECT i.module_id
  FROM (
    SELECT base_id AS module_id FROM asked_pairs
    UNION
    SELECT candidate_id FROM asked_pairs
  ) AS i
  JOIN memory_profile AS p USING (module_id)
  ANTI JOIN allocations AS a ON a.module_id = i.module_id
  GROUP BY i.module_id
  HAVING sum(p.reserved_bytes) > 0
)
SELECT
  p.pair, p.base_id, p.candidate_id,
  b.module_id IS NULL AND c.module_id IS NULL AS is_detailed
FROM asked_pairs AS p
LEFT JOIN pruned AS b ON b.module_id = p.base_id
LEFT JOIN pruned AS c ON c.module_id = p.candidate_id
