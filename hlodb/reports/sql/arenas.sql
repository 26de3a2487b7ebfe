-- The largest temporary allocation of each side of a map, one row per side that
-- has any: how much of it is live at the first step of the most live temporary
-- bytes of its colour, and how much its values take up over the schedule.
-- $maps, $modules, $colors and $candidates lie side by side.
WITH sides AS (
  SELECT
    unnest(from_json($maps, '["BIGINT"]')) AS map,
    unnest(from_json($modules, '["BIGINT"]')) AS module_id,
    unnest(from_json($colors, '["INTEGER"]')) AS color,
    unnest(from_json($candidates, '["BOOLEAN"]')) AS is_candidate
),
largest AS (
  SELECT
    s.map, s.is_candidate, module_id, color, a.allocation_id, a.size_bytes,
    count(*) OVER (PARTITION BY s.map, s.is_candidate) AS arena_count
  FROM sides AS s
  JOIN allocations AS a USING (module_id, color)
  WHERE a.kind = 'temp'
    AND a.size_bytes > 0
  QUALIFY row_number() OVER (
    PARTITION BY s.map, s.is_candidate ORDER BY a.size_bytes DESC, a.allocation_id
  ) = 1
),
moments AS (
  SELECT
    module_id, color, max(t.to_step) AS last_step,
    arg_max(t.from_step, (t.temp_live_bytes, -t.from_step)) AS peak_step
  FROM memory_timeline AS t
  SEMI JOIN sides USING (module_id, color)
  GROUP BY module_id, color
),
placed AS (
  SELECT
    a.map, a.is_candidate, v.size_bytes, v.offset_bytes AS from_byte,
    v.offset_bytes + v.size_bytes AS to_byte, l.end_step - l.start_step + 1 AS steps,
    m.peak_step BETWEEN l.start_step AND l.end_step AS is_at_peak
  FROM largest AS a
  JOIN moments AS m USING (module_id, color)
  JOIN allocation_values AS v USING (module_id, allocation_id)
  JOIN store.live_ranges AS l USING (module_id, value_id)
  WHERE v.size_bytes > 0
),
reached AS (
  SELECT
    *,
    coalesce(max(to_byte) OVER (
      PARTITION BY map, is_candidate, is_at_peak
      ORDER BY from_byte, to_byte
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ), 0) AS covered_to
  FROM placed
),
sums AS (
  SELECT
    map, is_candidate, count(*) AS value_count,
    sum(CAST(size_bytes AS HUGEINT) * steps) AS byte_steps,
    coalesce(sum(greatest(0, to_byte - greatest(from_byte, covered_to)))
      FILTER (WHERE is_at_peak), 0) AS live_bytes
  FROM reached
  GROUP BY map, is_candidate
)
SELECT
  a.map, a.is_candidate, a.module_id, a.allocation_id, a.arena_count, a.size_bytes,
  CAST(s.live_bytes AS BIGINT) AS live_bytes, m.peak_step, m.last_step,
  s.value_count, s.byte_steps
FROM largest AS a
JOIN moments AS m USING (module_id, color)
JOIN sums AS s USING (map, is_candidate)
ORDER BY a.map, a.is_candidate
