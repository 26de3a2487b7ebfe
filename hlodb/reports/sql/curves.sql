-- Live bytes over the schedules that curves are drawn from, in order: each row
-- is the most in a stretch of `steps` steps, which base and candidate of a
-- curve share; at most $points rows of each. $curves, $modules, $colors and
-- $candidates lie side by side.
WITH sides AS (
  SELECT
    unnest(from_json($curves, '["BIGINT"]')) AS curve,
    unnest(from_json($modules, '["BIGINT"]')) AS module_id,
    unnest(from_json($colors, '["INTEGER"]')) AS color,
    unnest(from_json($candidates, '["BOOLEAN"]')) AS is_candidate
),
spans AS (
  SELECT
    s.curve, s.is_candidate, t.from_step, t.to_step, t.live_bytes,
    max(t.to_step) OVER (PARTITION BY s.curve) // $points + 1 AS steps
  FROM sides AS s
  JOIN memory_timeline AS t USING (module_id, color)
),
stretches AS (
  SELECT
    s.curve, s.is_candidate, s.steps, s.live_bytes,
    unnest(range(s.from_step // s.steps, s.to_step // s.steps + 1)) AS stretch
  FROM spans AS s
)
SELECT s.curve, s.is_candidate, s.steps, max(s.live_bytes) AS live_bytes
FROM stretches AS s
GROUP BY s.curve, s.is_candidate, s.steps, s.stretch
ORDER BY s.curve, s.is_candidate, s.stretch
