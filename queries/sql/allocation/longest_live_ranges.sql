-- title: Longest live ranges
-- question: Which temporary values are live for the most steps?
-- definition: Values of temporary allocations by number of live steps
--   (end_step - start_step + 1); among equals the larger first. span_ratio is
--   the share of all steps. all_kinds adds parameters, constants and
--   live-outs.
-- grain: module occurrence, value
-- leading: program, space_name, instruction, live_steps, size_bytes,
--   source_file, source_line, shape
-- param run
-- param program
-- param color
-- param all_kinds BOOLEAN = false: Include all kinds of allocations, not only
--   temporary ones.
-- param top
-- column run
-- column program
-- column module_number
-- column rank
-- column color
-- column space_name
-- column instruction
-- column shape_index
-- column opcode
-- column kind
-- column shape
-- column size_bytes
-- column start_step
-- column end_step
-- column live_steps BIGINT steps lower_is_better: Steps at which it is live.
-- column span_ratio DOUBLE ratio lower_is_better: Share of the schedule.
-- column op_name
-- column source_file
-- column source_line
WITH lengths AS (
  SELECT module_id,
    max(step) + 1 AS step_count FROM store.schedule GROUP BY module_id
)
SELECT
  m.run, m.program, m.module_number, m.rank, m.color, m.space_name,
  v.instruction, v.shape_index, i.opcode, v.kind, v.shape, v.size_bytes,
  v.start_step, v.end_step,
  CAST(v.end_step - v.start_step + 1 AS BIGINT) AS live_steps,
  least(1, (v.end_step - v.start_step + 1) / nullif(l.step_count, 0))
    AS span_ratio,
  i.op_name, s.source_file, s.source_line
FROM selected_memory() AS m
JOIN placed_values() AS v
  USING (module_id, color)
LEFT JOIN lengths AS l USING (module_id)
LEFT JOIN selected_instructions() AS i
  ON i.module_id = v.module_id
  AND i.instruction_id = v.instruction_id
LEFT JOIN instruction_sources() AS s
  ON s.module_id = m.module_id
  AND s.locations_id = m.locations_id
  AND s.instruction_id = v.instruction_id
WHERE v.start_step IS NOT NULL
  AND (v.kind = 'temp' OR $all_kinds)
ORDER BY
  live_steps DESC, v.size_bytes DESC, m.program, m.module_number, m.rank,
  v.value_id
LIMIT $top
