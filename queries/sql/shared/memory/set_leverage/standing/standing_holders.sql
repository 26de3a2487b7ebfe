-- step: Holders of parameters, constants and results that a set frees, and
--   others: values of no set, and freed ones in the rest of their time.
-- grain: set, allocation, stretch of steps
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
)
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
  r.value_id IS NULL AS is_other,
  r.value_id IS NULL AS is_kept
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
  unnest([r.start_step - 1, r.final_step]), TRUE, FALSE
FROM removed_values AS r
JOIN standing_sets AS s USING (set_id, allocation_id)
