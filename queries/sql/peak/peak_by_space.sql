-- title: Memory per program and memory space
-- question: How much memory does each program reserve in each memory space,
--   and how much of it is live at once?
-- definition: Per module and memory space: reserved_bytes is the sum of all
--   allocation sizes. live_peak_bytes is the greatest sum, over the steps of
--   the schedule, of live temporary bytes (union of the addresses of live
--   values, ends inclusive) and of whole parameters, constants and live-outs
--   while one of their values is live; one without any live range counts at
--   every step. fragmentation_bytes is temp_bytes minus the most temporary
--   bytes live at one step; scoped_bytes of frag_by_space is the part that is
--   scoped memory (VMEM that a kernel reserves for itself). These figures are
--   the buffer assignment: the program's code, arrays that live between its
--   runs, and other programs come on top; caveat names what else is known to
--   be missing (run_time_rules).
-- grain: module occurrence, memory space
-- leading: program, space_name, reserved_bytes, live_peak_bytes, temp_bytes,
--   fragmentation_ratio, peak_instruction
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
-- column reserved_bytes
-- column live_peak_bytes
-- column peak_step
-- column peak_instruction VARCHAR name neutral: Instruction scheduled at that
--   step.
-- column parameter_bytes BIGINT bytes lower_is_better: Allocations of
--   parameters.
-- column constant_bytes BIGINT bytes lower_is_better: Allocations of
--   constants.
-- column live_out_bytes BIGINT bytes lower_is_better: Allocations that outlive
--   the program and hold no parameter.
-- column thread_local_bytes BIGINT bytes lower_is_better: Thread-local
--   allocations.
-- column temp_bytes BIGINT bytes lower_is_better: Temporary allocations.
-- column fragmentation_bytes BIGINT bytes lower_is_better: Temporary bytes
--   that are never live at once.
-- column fragmentation_ratio DOUBLE ratio lower_is_better: Share of
--   temp_bytes.
-- column caveat VARCHAR text neutral: What the figures lack; NULL if nothing
--   special is known.
-- column path
SELECT
  m.run, m.program, m.module_number, m.rank, m.color, m.space_name,
  m.reserved_bytes, m.live_peak_bytes, m.peak_step,
  n.name AS peak_instruction,
  m.parameter_bytes, m.constant_bytes, m.live_out_bytes, m.thread_local_bytes,
  m.temp_bytes, m.fragmentation_bytes, m.fragmentation_ratio, t.caveat,
  m.path
FROM module_memory AS m
JOIN selected_run() AS c USING (run_id)
LEFT JOIN store.schedule AS s
  ON s.module_id = m.module_id
  AND s.step = m.peak_step
LEFT JOIN store.instructions AS n
  ON n.module_id = s.module_id
  AND n.instruction_id = s.instruction_id
LEFT JOIN run_time_memory() AS t ON t.module_id = m.module_id
WHERE ($program IS NULL OR m.program = $program)
  AND ($color IS NULL OR m.color = $color)
ORDER BY
  m.reserved_bytes DESC, m.program, m.module_number, m.rank, m.color
