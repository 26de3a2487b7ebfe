-- title: Parameters held after their last use
-- question: Which parameters stay in memory after their last use because they
--   are not donated?
-- definition: Allocations that contain nothing but a parameter and are not
--   live-out. last_use_step is the last step at which an instruction reads a
--   value of the allocation; NULL if none does. held_after_use_byte_steps is
--   the size times the number of later steps. unused_at_peak_bytes is the size
--   if the peak of the memory space comes after the last use, else 0.
-- grain: module occurrence, allocation
-- leading: program, space_name, parameter_number, op_name, size_bytes,
--   held_after_use_steps, unused_at_peak_bytes
-- param run
-- param program
-- param color
-- param top
-- column run
-- column program
-- column module_number
-- column rank
-- column color
-- column space_name
-- column parameter_number INTEGER id neutral: The entry parameter.
-- column parameter_index VARCHAR name neutral: Index into that parameter.
-- column op_name
-- column shape VARCHAR text neutral: Shape of the parameter.
-- column size_bytes BIGINT bytes lower_is_better: Size of the allocation.
-- column last_use_step INTEGER step neutral: Last step at which it is read.
-- column end_step
-- column held_after_use_steps BIGINT steps lower_is_better: Steps after the
--   last use.
-- column held_after_use_byte_steps BIGINT byte_steps lower_is_better: Size
--   times those steps.
-- column unused_at_peak_bytes BIGINT bytes lower_is_better: Size if it takes
--   memory at the peak without a later use, else 0.
WITH pinned AS (
  SELECT
    v.module_id, v.allocation_id, min(v.start_step) AS start_step,
    max(v.end_step) AS end_step, max(i.op_name) AS op_name
  FROM placed_values() AS v
  JOIN selected_instructions() AS i
    USING (module_id, instruction_id)
  WHERE v.kind = 'parameter'
  GROUP BY v.module_id, v.allocation_id
  HAVING bool_and(i.opcode = 'parameter')
    AND max(v.end_step) IS NOT NULL
),
used AS (
  SELECT v.module_id, v.allocation_id, max(i.schedule_step) AS last_use_step
  FROM placed_values() AS v
  JOIN store.value_uses AS u USING (module_id, value_id)
  JOIN selected_instructions() AS i
    ON i.module_id = u.module_id
    AND i.instruction_id = u.instruction_id
  WHERE v.kind = 'parameter'
  GROUP BY v.module_id, v.allocation_id
),
held AS (
  SELECT
    m.run AS run_name, m.program AS program_name, m.module_number, m.rank,
    m.color AS space_color, m.space_name, m.peak_step, a.parameter_number,
    coalesce(a.parameter_shape_index, '{}') AS parameter_index, p.op_name,
    a.shape, a.size_bytes, u.last_use_step, p.end_step,
    p.end_step - coalesce(u.last_use_step, p.start_step - 1)
      AS held_after_use_steps
  FROM selected_memory() AS m
  JOIN allocations AS a USING (module_id, color)
  JOIN pinned AS p USING (module_id, allocation_id)
  LEFT JOIN used AS u USING (module_id, allocation_id)
  WHERE a.kind = 'parameter'
    AND NOT coalesce(a.is_live_out, FALSE)
)
SELECT
  h.run_name AS run, h.program_name AS program, h.module_number, h.rank,
  h.space_color AS color, h.space_name, h.parameter_number, h.parameter_index,
  h.op_name, h.shape, h.size_bytes, h.last_use_step, h.end_step,
  CAST(h.held_after_use_steps AS BIGINT) AS held_after_use_steps,
  CAST(CAST(h.size_bytes AS HUGEINT) * h.held_after_use_steps AS BIGINT)
    AS held_after_use_byte_steps,
  CASE
    WHEN h.peak_step > coalesce(h.last_use_step, -1) THEN h.size_bytes ELSE 0
  END AS unused_at_peak_bytes
FROM held AS h
ORDER BY
  held_after_use_byte_steps DESC, h.program_name, h.module_number, h.rank,
  h.parameter_number, h.parameter_index
LIMIT $top
