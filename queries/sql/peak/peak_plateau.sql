-- title: Width of the peak
-- question: Is the peak one step or a plateau, and how high is the next peak?
-- definition: Stretches of steps, as long as possible, with live bytes of at
--   least (1 - tolerance) times the live peak. gain_if_removed_bytes is the
--   live peak minus the most live bytes outside of the stretch: the most that
--   a change inside the stretch can save.
-- grain: module occurrence, memory space, stretch of steps
-- leading: program, space_name, from_step, to_step, max_bytes,
--   gain_if_removed_bytes, is_peak, first_instruction
-- split: programs
-- param run
-- param program
-- param color
-- param tolerance DOUBLE = 0.05 from 0 to 1: Largest distance below the peak
--   that still counts, as a share of the peak.
-- column run
-- column program
-- column module_number
-- column rank
-- column color
-- column space_name
-- column from_step INTEGER step neutral: First step of the stretch.
-- column to_step INTEGER step neutral: Last step of the stretch.
-- column width_steps BIGINT steps neutral: Length of the stretch.
-- column width_ratio DOUBLE ratio neutral: Share of the schedule.
-- column max_bytes BIGINT bytes lower_is_better: Most live bytes in it.
-- column is_peak BOOLEAN flag neutral: Whether peak_step is in it.
-- column next_peak_bytes BIGINT bytes lower_is_better: Most live bytes outside
--   of the stretch.
-- column gain_if_removed_bytes BIGINT bytes higher_is_better: Most that a
--   change inside the stretch can save.
-- column first_instruction VARCHAR name neutral: Instruction scheduled at
--   from_step.
WITH curves AS (
  SELECT
    m.run AS run_name, m.program AS program_name, m.module_number, m.rank,
    m.occurrence, m.module_id, m.color AS space_color, m.space_name,
    m.peak_step, m.live_peak_bytes, t.from_step, t.to_step, t.live_bytes,
    t.live_bytes >= (1 - $tolerance) * m.live_peak_bytes AS is_high
  FROM selected_memory() AS m
  JOIN memory_timeline AS t USING (module_id, color)
),
numbered AS (
  SELECT
    *,
    sum(CASE WHEN is_high THEN 0 ELSE 1 END) OVER same_curve AS lows_before,
    max(to_step) OVER (PARTITION BY occurrence, space_color) + 1 AS step_count
  FROM curves
  WINDOW same_curve AS (
    PARTITION BY occurrence, space_color ORDER BY from_step
  )
),
plateaus AS (
  SELECT
    run_name, program_name, module_number, rank, occurrence, module_id,
    space_color, space_name, peak_step, live_peak_bytes, step_count,
    lows_before,
    min(from_step) AS first_step, max(to_step) AS last_step,
    max(live_bytes) AS max_bytes
  FROM numbered
  WHERE is_high
  GROUP BY ALL
),
outside AS (
  SELECT
    p.occurrence, p.space_color, p.first_step,
    max(n.live_bytes) AS next_peak_bytes
  FROM plateaus AS p
  JOIN numbered AS n
    ON n.occurrence = p.occurrence
    AND n.space_color = p.space_color
    AND (n.from_step < p.first_step OR n.from_step > p.last_step)
  GROUP BY ALL
)
SELECT
  p.run_name AS run, p.program_name AS program, p.module_number, p.rank,
  p.space_color AS color, p.space_name, p.first_step AS from_step,
  p.last_step AS to_step,
  CAST(p.last_step - p.first_step + 1 AS BIGINT) AS width_steps,
  (p.last_step - p.first_step + 1) / p.step_count AS width_ratio, p.max_bytes,
  p.peak_step BETWEEN p.first_step AND p.last_step AS is_peak,
  coalesce(o.next_peak_bytes, 0) AS next_peak_bytes,
  p.live_peak_bytes - coalesce(o.next_peak_bytes, 0) AS gain_if_removed_bytes,
  n.name AS first_instruction
FROM plateaus AS p
LEFT JOIN outside AS o
  ON o.occurrence = p.occurrence
  AND o.space_color = p.space_color
  AND o.first_step = p.first_step
LEFT JOIN store.schedule AS s
  ON s.module_id = p.module_id
  AND s.step = p.first_step
LEFT JOIN store.instructions AS n
  ON n.module_id = s.module_id
  AND n.instruction_id = s.instruction_id
ORDER BY
  p.live_peak_bytes DESC, p.program_name, p.module_number, p.rank,
  p.occurrence, p.space_color, p.first_step
