-- title: Buffers that stay in memory long for little use
-- question: Which buffers take the most memory over time (size times live
--   steps), and how long are they unused?
-- definition: Values of temporary allocations. resident_byte_steps is
--   size_bytes times live_steps. A value is accessed at its definition and
--   when an instruction reads it. idle_steps counts the live steps in gaps of
--   more than tolerated_gap_steps between accesses, and after the last access.
-- grain: module occurrence, value
-- leading: program, space_name, instruction, resident_byte_steps, idle_ratio,
--   size_bytes, live_steps, shape
-- param run
-- param program
-- param color
-- param tolerated_gap_steps BIGINT = 0 from 0: Gaps of at most this many steps
--   do not count as idle.
-- param top
-- column run
-- column program
-- column module_number
-- column rank
-- column color
-- column space_name
-- column instruction
-- column shape_index
-- column shape
-- column size_bytes
-- column live_steps BIGINT steps neutral: Steps at which it is live.
-- column resident_byte_steps BIGINT byte_steps lower_is_better: size_bytes
--   times live_steps.
-- column idle_steps BIGINT steps lower_is_better: Live steps without an
--   access.
-- column idle_ratio DOUBLE ratio lower_is_better: Share of live_steps that are
--   idle.
-- column use_count BIGINT count neutral: Instructions that read it inside its
--   live range.
-- column max_gap_steps BIGINT steps lower_is_better: Longest gap without an
--   access.
-- column start_step
-- column end_step
-- column op_name
WITH tenants AS (
  SELECT *
  FROM placed_values()
  WHERE kind = 'temp'
    AND start_step IS NOT NULL
),
touches AS (
  SELECT module_id, value_id, start_step AS step, FALSE AS is_use FROM tenants
  UNION
  SELECT t.module_id, t.value_id, i.schedule_step, TRUE
  FROM tenants AS t
  JOIN store.value_uses AS u USING (module_id, value_id)
  JOIN selected_instructions() AS i
    ON i.module_id = u.module_id
    AND i.instruction_id = u.instruction_id
  WHERE i.schedule_step BETWEEN t.start_step AND t.end_step
),
gaps AS (
  SELECT
    c.module_id, c.value_id, c.is_use,
    lead(c.step, 1, t.end_step + 1) OVER (
      PARTITION BY c.module_id, c.value_id ORDER BY c.step, c.is_use
    ) - c.step - 1 AS gap_steps
  FROM touches AS c
  JOIN tenants AS t USING (module_id, value_id)
),
idle AS (
  SELECT
    module_id, value_id, count(*) FILTER (WHERE is_use) AS use_count,
    coalesce(sum(gap_steps) FILTER (WHERE gap_steps > $tolerated_gap_steps), 0)
      AS idle_steps,
    greatest(max(gap_steps), 0) AS max_gap_steps
  FROM gaps
  GROUP BY module_id, value_id
)
SELECT
  m.run, m.program, m.module_number, m.rank, m.color, m.space_name,
  t.instruction, t.shape_index, t.shape, t.size_bytes,
  CAST(t.end_step - t.start_step + 1 AS BIGINT) AS live_steps,
  CAST(
    CAST(t.size_bytes AS HUGEINT) * (t.end_step - t.start_step + 1) AS BIGINT
  ) AS resident_byte_steps,
  CAST(d.idle_steps AS BIGINT) AS idle_steps,
  d.idle_steps / (t.end_step - t.start_step + 1) AS idle_ratio, d.use_count,
  CAST(d.max_gap_steps AS BIGINT) AS max_gap_steps, t.start_step, t.end_step,
  i.op_name
FROM selected_memory() AS m
JOIN tenants AS t USING (module_id, color)
JOIN idle AS d USING (module_id, value_id)
LEFT JOIN selected_instructions() AS i
  ON i.module_id = t.module_id
  AND i.instruction_id = t.instruction_id
ORDER BY
  resident_byte_steps DESC, m.program, m.module_number, m.rank, t.value_id
LIMIT $top
