-- title: Memory of the selected modules
-- question: Which rows of module_memory belong to a run and a program?
-- definition: Keys of module_memory for the selected run, program and memory
--   space.
-- grain: module occurrence, memory space
-- param run
-- param program
-- param color
-- column run_id
-- column run
-- column program
-- column module_number
-- column rank
-- column occurrence BIGINT id neutral: Number of the module occurrence in the
--   run, by path and part: several processes may have the same module.
-- column path
-- column module_id
-- column locations_id
-- column color
-- column space_name
-- column peak_step
-- column live_peak_bytes
-- column reserved_bytes
SELECT
  m.run_id, m.run AS run, m.program AS program, m.module_number, m.rank,
  dense_rank() OVER (ORDER BY m.path, m.part) AS occurrence,
  m.path, m.module_id, m.locations_id, m.color AS color, m.space_name,
  m.peak_step, m.live_peak_bytes, m.reserved_bytes
FROM module_memory AS m
JOIN selected_run() AS c USING (run_id)
-- Said again, as a constant: then DuckDB reads no other runs.
WHERE ($run IS NULL OR m.run = $run)
  AND ($program IS NULL OR m.program = $program)
  AND ($color IS NULL OR m.color = $color)
