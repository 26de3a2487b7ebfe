-- step: The pairs of modules that are asked for, each once.
-- grain: pair
SELECT DISTINCT p.base_id, p.own_id
FROM (
  SELECT unnest($base_ids) AS base_id, unnest($candidate_ids) AS own_id
) AS p
WHERE p.base_id IS NOT NULL
  AND p.own_id IS NOT NULL
