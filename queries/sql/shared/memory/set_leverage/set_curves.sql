-- step: Bytes that are freed step by step.
-- grain: set, step
WITH changes AS (
  SELECT set_id, start_step AS step, size_bytes AS change
  FROM removed_values
  WHERE kind = 'temp'
    AND start_step <= end_step
  UNION ALL
  SELECT set_id, end_step + 1, -size_bytes
  FROM removed_values
  WHERE kind = 'temp'
    AND start_step <= end_step
  UNION ALL
  SELECT set_id, step, -kept_bytes FROM still_held
  UNION ALL
  SELECT set_id, until_step + 1, kept_bytes FROM still_held
  UNION ALL
  SELECT
    set_id, step,
    freed_bytes - lag(freed_bytes, 1, 0) OVER (
      PARTITION BY set_id, allocation_id ORDER BY step
    )
  FROM freed_allocations
)
SELECT
  set_id, step,
  sum(sum(change)) OVER (PARTITION BY set_id ORDER BY step) AS freed_bytes
FROM changes
GROUP BY set_id, step
