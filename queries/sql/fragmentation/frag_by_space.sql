-- title: Fragmentation per memory space
-- question: How much temporary memory is reserved beyond what is ever live at
--   once?
-- definition: Per module and memory space: the size of the temporary
--   allocations minus the most temporary bytes live at one step (union of
--   addresses, ends inclusive). The ratio is to temp_bytes. Modules without
--   temporaries or live ranges are left out. In the VMEM of a TPU,
--   fragmentation includes scoped memory (VMEM that a kernel reserves for
--   itself), which is in use: scoped_bytes.
-- grain: module occurrence, memory space
-- leading: program, space_name, fragmentation_bytes, fragmentation_ratio,
--   temp_bytes, temp_live_peak_bytes, scoped_bytes
-- split: programs
-- param run
-- param program
-- param color
-- column run
-- column program
-- column module_number
-- column rank
-- column color
-- column space_name
-- column temp_bytes BIGINT bytes lower_is_better: Size of the temporary
--   allocations.
-- column temp_live_peak_bytes BIGINT bytes lower_is_better: Most of their
--   bytes live at one step.
-- column fragmentation_bytes BIGINT bytes lower_is_better: temp_bytes minus
--   temp_live_peak_bytes.
-- column fragmentation_ratio DOUBLE ratio lower_is_better: Its share of
--   temp_bytes.
-- column arena_count BIGINT count neutral: Temporary allocations.
-- column value_count BIGINT count neutral: Values placed in them.
-- column scoped_bytes BIGINT bytes neutral: Part of fragmentation_bytes that
--   is scoped memory (VMEM that a kernel reserves for itself).
WITH arenas AS (
  SELECT
    a.module_id, a.color AS space_color,
    count(DISTINCT a.allocation_id) AS arena_count,
    count(v.value_id) AS value_count
  FROM allocations AS a
  LEFT JOIN allocation_values AS v USING (module_id, allocation_id)
  WHERE a.kind = 'temp'
  GROUP BY a.module_id, a.color
),
scoped AS (
  SELECT
    s.module_id, s.color AS space_color,
    max(s.scoped_bytes + t.temp_live_bytes) AS used_bytes
  FROM scoped_memory() AS s
  JOIN memory_timeline AS t
    ON t.module_id = s.module_id
    AND t.color = s.color
    AND s.schedule_step BETWEEN t.from_step AND t.to_step
  GROUP BY s.module_id, s.color
)
SELECT
  m.run, m.program, m.module_number, m.rank, m.color, m.space_name,
  m.temp_bytes, m.temp_live_peak_bytes, m.fragmentation_bytes,
  m.fragmentation_ratio, a.arena_count, a.value_count,
  CASE
    WHEN s.used_bytes > m.temp_live_peak_bytes
      THEN least(s.used_bytes, m.temp_bytes) - m.temp_live_peak_bytes
    ELSE 0
  END AS scoped_bytes
FROM module_memory AS m
JOIN selected_run() AS c USING (run_id)
JOIN arenas AS a
  ON a.module_id = m.module_id
  AND a.space_color = m.color
LEFT JOIN scoped AS s
  ON s.module_id = m.module_id
  AND s.space_color = m.color
WHERE m.temp_live_peak_bytes IS NOT NULL
  AND ($program IS NULL OR m.program = $program)
  AND ($color IS NULL OR m.color = $color)
ORDER BY
  m.fragmentation_bytes DESC, m.program, m.module_number, m.rank, m.color
