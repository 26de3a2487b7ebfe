-- step: The live peak of each case.
-- grain: case, memory space
WITH changes AS (
  SELECT
    module_id, clone_id, space_color, after_step + 1 AS step,
    size_bytes AS change
  FROM kept_arrays
  UNION ALL
  SELECT module_id, clone_id, space_color, before_step, -size_bytes
  FROM kept_arrays
  UNION ALL
  SELECT module_id, clone_id, space_color, after_step + 1, -size_bytes
  FROM released_arrays
  UNION ALL
  SELECT module_id, clone_id, space_color, before_step, size_bytes
  FROM released_arrays
  UNION ALL
  SELECT module_id, clone_id, space_color, 0, 0 FROM asked_cases
),
differences AS (
  SELECT
    module_id, clone_id, space_color, step AS from_step,
    coalesce(lead(step) OVER steps - 1, 2147483647) AS to_step,
    sum(sum(change)) OVER steps AS change
  FROM changes
  GROUP BY module_id, clone_id, space_color, step
  WINDOW steps AS (
    PARTITION BY module_id, clone_id, space_color ORDER BY step
  )
)
SELECT
  d.module_id, d.clone_id, d.space_color,
  max(t.live_bytes + d.change) AS peak_bytes,
  arg_max(
    greatest(t.from_step, d.from_step),
    (t.live_bytes + d.change, -greatest(t.from_step, d.from_step))
  ) AS peak_step
FROM differences AS d
JOIN memory_timeline AS t
  ON t.module_id = d.module_id
  AND t.color = d.space_color
  AND t.from_step <= d.to_step
  AND t.to_step >= d.from_step
GROUP BY d.module_id, d.clone_id, d.space_color
