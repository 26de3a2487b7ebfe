-- Share of the steps at which at least 95 % of the live peak is live, per module and
-- colour of the modules $modules: a plateau is near 1, a spike near 0.
SELECT
  p.module_id, p.color,
  sum(t.to_step - t.from_step + 1)
    FILTER (WHERE t.live_bytes >= 0.95 * p.live_peak_bytes)
  / sum(t.to_step - t.from_step + 1) AS plateau_ratio
FROM memory_profile AS p
JOIN memory_timeline AS t USING (module_id, color)
WHERE p.module_id IN (SELECT unnest(from_json($modules, '["BIGINT"]')))
  AND p.live_peak_bytes > 0
GROUP BY ALL
ORDER BY ALL
