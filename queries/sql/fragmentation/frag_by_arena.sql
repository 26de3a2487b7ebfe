-- title: Fragmentation per arena
-- question: How fragmented is each temporary allocation?
-- definition: Per temporary allocation (arena), its size minus the most bytes
--   live at one step (union of addresses, ends inclusive). The fragmentation
--   of a memory space exceeds the sum over its arenas if they peak at
--   different steps, see arena_split_cost.
-- grain: module occurrence, allocation
-- leading: program, space_name, allocation_id, fragmentation_bytes,
--   fragmentation_ratio, allocation_bytes, live_peak_bytes
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
-- column allocation_id
-- column allocation_bytes BIGINT bytes lower_is_better: Size of the
--   allocation.
-- column live_peak_bytes BIGINT bytes lower_is_better: Most of its bytes live
--   at one step.
-- column peak_step INTEGER step neutral: First step that reaches them.
-- column fragmentation_bytes BIGINT bytes lower_is_better: allocation_bytes
--   minus live_peak_bytes.
-- column fragmentation_ratio DOUBLE ratio lower_is_better: Share of the
--   allocation.
-- column value_count BIGINT count neutral: Values placed in it.
WITH peaks AS (
  SELECT
    module_id, allocation_id, max(live_bytes) AS live_peak_bytes,
    arg_max(from_step, (live_bytes, -from_step)) AS first_step
  FROM arena_timeline()
  GROUP BY module_id, allocation_id
),
tenants AS (
  SELECT module_id, allocation_id, count(*) AS value_count
  FROM allocation_values
  GROUP BY module_id, allocation_id
)
SELECT
  m.run, m.program, m.module_number, m.rank, m.color, m.space_name,
  a.allocation_id, a.size_bytes AS allocation_bytes,
  coalesce(p.live_peak_bytes, 0) AS live_peak_bytes, p.first_step AS peak_step,
  a.size_bytes - coalesce(p.live_peak_bytes, 0) AS fragmentation_bytes,
  (a.size_bytes - coalesce(p.live_peak_bytes, 0)) / nullif(a.size_bytes, 0)
    AS fragmentation_ratio,
  coalesce(t.value_count, 0) AS value_count
FROM selected_memory() AS m
JOIN allocations AS a USING (module_id, color)
LEFT JOIN peaks AS p USING (module_id, allocation_id)
LEFT JOIN tenants AS t USING (module_id, allocation_id)
WHERE a.kind = 'temp'
  AND m.peak_step IS NOT NULL
ORDER BY
  fragmentation_bytes DESC, m.program, m.module_number, m.rank, a.allocation_id
