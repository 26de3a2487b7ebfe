-- step: Live bytes of these memory spaces step by step.
-- grain: program, memory space, step
SELECT
  t.module_id, t.color AS space_color, t.from_step, t.live_bytes,
  t.temp_live_bytes AS temp_bytes,
  lag(t.live_bytes, 1, 0) OVER same_space AS bytes_before,
  max(t.to_step) OVER (PARTITION BY t.module_id, t.color) AS last_step
FROM memory_timeline AS t
JOIN (SELECT DISTINCT module_id, space_color FROM selected_spaces) AS c
  ON c.module_id = t.module_id
  AND c.space_color = t.color
WINDOW same_space AS (
  PARTITION BY t.module_id, t.color ORDER BY t.from_step
)
