-- step: The pairs of contents that are asked for, each once.
-- grain: pair
SELECT DISTINCT p.base_id, p.candidate_id
FROM (
  SELECT unnest($base_ids) AS base_id, unnest($candidate_ids) AS candidate_id
) AS p
WHERE p.base_id IS NOT NULL
  AND p.candidate_id IS NOT NULL
