-- step: Parameters, constants and results that are freed where nothing else is
--   in their place.
-- grain: set, allocation, step
WITH standing_sets AS MATERIALIZED (
  SELECT DISTINCT
    r.set_id, o.is_apart, r.module_id, r.allocation_id, r.allocation_bytes,
    c.last_step
  FROM removed_values AS r
  JOIN sets AS o USING (set_id)
  JOIN memory_curves AS c
    ON c.module_id = o.module_id
    AND c.space_color = o.space_color
  WHERE r.kind <> 'temp'
),
holders AS (
  SELECT
    s.set_id, s.is_apart, v.allocation_id, v.allocation_bytes, v.size_bytes,
    CASE
      WHEN v.is_standing THEN 0
      ELSE coalesce(r.start_step, v.start_step)
    END AS start_step,
    CASE
      WHEN v.is_standing THEN s.last_step
      ELSE coalesce(r.end_step, v.end_step)
    END AS end_step,
    r.value_id IS NULL AS is_other
  FROM standing_sets AS s
  JOIN space_values AS v
    ON v.module_id = s.module_id
    AND v.allocation_id = s.allocation_id
  LEFT JOIN removed_values AS r
    ON r.set_id = s.set_id
    AND r.allocation_id = v.allocation_id
    AND r.value_id = v.value_id
  UNION ALL
  -- What is freed for a part of its time only, in the rest of it.
  SELECT
    r.set_id, s.is_apart, r.allocation_id, s.allocation_bytes, r.size_bytes,
    unnest([r.first_step, r.end_step + 1]),
    unnest([r.start_step - 1, r.final_step]), TRUE
  FROM removed_values AS r
  JOIN standing_sets AS s USING (set_id, allocation_id)
)
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
  FROM holders
  WHERE start_step <= end_step
  UNION ALL
  SELECT
    set_id, is_apart, allocation_id, allocation_bytes, end_step + 1,
    -CAST(NOT is_other AS TINYINT), -CAST(is_other AS TINYINT),
    CASE WHEN is_other THEN -size_bytes ELSE 0 END
  FROM holders
  WHERE start_step <= end_step
)
GROUP BY set_id, is_apart, allocation_id, allocation_bytes, step
WINDOW in_place AS (
  PARTITION BY set_id, allocation_id ORDER BY step
)
