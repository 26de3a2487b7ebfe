-- title: Memory spaces idle at the main peak
-- question: How much of each other memory space is unused while the main
--   memory space is at its peak?
-- definition: For each memory space other than the main one (color 0), at the
--   step of the main memory's peak: idle_bytes is reserved_bytes minus the
--   live bytes of the space. usable_by_main_bytes is the part that the main
--   memory could use: the lesser of idle_bytes and the temporary bytes live in
--   the main memory.
-- grain: module occurrence, memory space
-- leading: program, space_name, idle_bytes, usable_by_main_bytes,
--   reserved_bytes, live_bytes, main_temp_live_bytes
-- split: programs
-- param run
-- param program
-- column run
-- column program
-- column module_number
-- column rank
-- column color
-- column space_name
-- column main_peak_step INTEGER step neutral: Step of the peak of color 0.
-- column reserved_bytes
-- column live_bytes BIGINT bytes neutral: Live bytes of the color at that
--   step.
-- column idle_bytes BIGINT bytes lower_is_better: Reserved bytes that are not
--   live.
-- column main_temp_live_bytes BIGINT bytes neutral: Temporary bytes of color 0
--   live at that step.
-- column usable_by_main_bytes BIGINT bytes lower_is_better: Idle bytes that
--   could hold temporary values of color 0.
WITH memory AS (
  SELECT m.*
  FROM module_memory AS m
  JOIN selected_run() AS c USING (run_id)
  WHERE $program IS NULL
    OR m.program = $program
),
main AS (
  SELECT DISTINCT m.module_id, m.peak_step, t.temp_live_bytes
  FROM memory AS m
  JOIN memory_timeline AS t
    ON t.module_id = m.module_id
    AND t.color = m.color
    AND m.peak_step BETWEEN t.from_step AND t.to_step
  WHERE m.color = 0
),
other AS (
  SELECT
    m.run AS run_name, m.program AS program_name, m.module_number, m.rank,
    m.color AS space_color, m.space_name, p.peak_step AS main_peak_step,
    m.reserved_bytes, coalesce(t.live_bytes, 0) AS live_bytes,
    m.reserved_bytes - coalesce(t.live_bytes, 0) AS idle_bytes,
    p.temp_live_bytes
  FROM memory AS m
  JOIN main AS p USING (module_id)
  LEFT JOIN memory_timeline AS t
    ON t.module_id = m.module_id
    AND t.color = m.color
    AND p.peak_step BETWEEN t.from_step AND t.to_step
  WHERE m.color <> 0
)
SELECT
  o.run_name AS run, o.program_name AS program, o.module_number, o.rank,
  o.space_color AS color, o.space_name, o.main_peak_step, o.reserved_bytes,
  o.live_bytes, o.idle_bytes, o.temp_live_bytes AS main_temp_live_bytes,
  least(o.idle_bytes, o.temp_live_bytes) AS usable_by_main_bytes
FROM other AS o
ORDER BY
  o.idle_bytes DESC, o.program_name, o.module_number, o.rank, o.space_color
