-- step: Memory spaces of the selected programs with their live peak.
-- grain: program, memory space
SELECT DISTINCT
  m.module_id, m.locations_id, m.color AS space_color, m.peak_step,
  m.live_peak_bytes
FROM selected_memory() AS m
WHERE m.peak_step IS NOT NULL
