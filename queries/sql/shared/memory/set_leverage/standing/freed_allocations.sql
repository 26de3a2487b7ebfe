-- step: Parameters, constants and results that are freed where nothing else is
--   in their place.
-- grain: set, allocation, step
SELECT
  set_id, allocation_id, allocation_bytes, step,
  CASE
    WHEN sum(sum(other)) OVER in_place > 0 AND is_apart = 1
      THEN allocation_bytes - sum(sum(other_bytes)) OVER in_place
    WHEN sum(sum(other)) OVER in_place > 0 THEN 0
    WHEN sum(sum(own)) OVER in_place > 0 THEN allocation_bytes
    ELSE 0
  END AS freed_bytes
FROM (
  SELECT
    set_id, is_apart, allocation_id, allocation_bytes, start_step AS step,
    CAST(NOT is_other AS TINYINT) AS own, CAST(is_other AS TINYINT) AS other,
    CASE WHEN is_other THEN size_bytes ELSE 0 END AS other_bytes
  FROM standing_holders
  WHERE start_step <= end_step
  UNION ALL
  SELECT
    set_id, is_apart, allocation_id, allocation_bytes, end_step + 1,
    -CAST(NOT is_other AS TINYINT), -CAST(is_other AS TINYINT),
    CASE WHEN is_other THEN -size_bytes ELSE 0 END
  FROM standing_holders
  WHERE start_step <= end_step
)
GROUP BY set_id, is_apart, allocation_id, allocation_bytes, step
WINDOW in_place AS (
  PARTITION BY set_id, allocation_id ORDER BY step
)
