-- step: Limits of the memory spaces of a device that the project sets.
-- grain: run, memory space
SELECT r.run_id, l.space AS limited_space, l.bytes AS space_limit
FROM (
  SELECT
    unnest($limit_devices) AS pattern, unnest($limit_spaces) AS space,
    unnest($limit_bytes) AS bytes,
    unnest(range(1, len($limit_bytes) + 1)) AS ordinal
) AS l
JOIN runs AS r ON coalesce(r.device, '') GLOB l.pattern
WHERE r.run_id IN (SELECT candidate_run_id FROM asked_pairs)
QUALIFY row_number()
  OVER (PARTITION BY r.run_id, l.space ORDER BY l.ordinal) = 1
