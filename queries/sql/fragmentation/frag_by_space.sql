-- title: Fragmentation per memory space
-- question: How much of the temporary memory is never needed at once?
-- definition: Per module and colour: the sizes of the temporary allocations,
--   minus the most temporary bytes live at one step (union of addresses, ends
--   inclusive). The ratio is of temp_bytes; modules without temporaries or
--   live ranges are left out. In the VMEM of a TPU it includes what kernels
--   have for themselves (max_scoped_bytes of custom_call_inventory).
-- grain: module occurrence, colour
-- needs: chosen_run, module_memory, allocations, allocation_values
-- param run
-- param program
-- param color
-- column run
-- column program
-- column module_number
-- column rank
-- column color
-- column space_name
-- column temp_bytes BIGINT bytes lower_is_better: Sizes of temporary
--   allocations.
-- column temp_live_peak_bytes BIGINT bytes lower_is_better: Most of their
--   bytes live at one step.
-- column fragmentation_bytes BIGINT bytes lower_is_better: The difference.
-- column fragmentation_ratio DOUBLE ratio lower_is_better: Its share of
--   temp_bytes.
-- column arena_count BIGINT count neutral: Temporary allocations.
-- column value_count BIGINT count neutral: Values placed in them.
WITH arenas AS (
  SELECT
    a.module_id, a.color AS space_color,
    count(DISTINCT a.allocation_id) AS arena_count,
    count(v.value_id) AS value_count
  FROM allocations AS a
  LEFT JOIN allocation_values AS v USING (module_id, allocation_id)
  WHERE a.kind = 'temp'
  GROUP BY a.module_id, a.color
)
SELECT
  m.run, m.program, m.module_number, m.rank, m.color, m.space_name,
  m.temp_bytes, m.temp_live_peak_bytes, m.fragmentation_bytes,
  m.fragmentation_ratio, a.arena_count, a.value_count
FROM module_memory AS m
JOIN chosen_run(run := $run) AS c USING (run_id)
JOIN arenas AS a
  ON a.module_id = m.module_id
  AND a.space_color = m.color
WHERE m.temp_live_peak_bytes IS NOT NULL
  AND ($program IS NULL OR m.program = $program)
  AND ($color IS NULL OR m.color = $color)
ORDER BY
  m.fragmentation_bytes DESC, m.program, m.module_number, m.rank, m.color
