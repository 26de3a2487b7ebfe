-- Memory per colour of the modules $modules, $platforms side by side.
WITH wanted AS (
  SELECT
    unnest(from_json($modules, '["BIGINT"]')) AS module_id,
    unnest(from_json($platforms, '["VARCHAR"]')) AS platform
)
SELECT DISTINCT
  p.module_id, p.color,
  coalesce(s.space_name, 'color_' || p.color) AS space_name,
  p.reserved_bytes, p.parameter_bytes, p.constant_bytes, p.live_out_bytes,
  p.thread_local_bytes, p.temp_bytes, p.temp_live_peak_bytes, p.live_peak_bytes,
  p.peak_step, p.fragmentation_bytes, p.padding_bytes, p.conflict_count
FROM memory_profile AS p
JOIN wanted AS w USING (module_id)
LEFT JOIN memory_spaces AS s
  ON s.platform = w.platform
  AND s.color = p.color
ORDER BY ALL
