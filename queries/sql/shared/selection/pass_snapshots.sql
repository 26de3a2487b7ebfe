-- title: Snapshots of modules in the order of their making
-- question: In which order were the snapshots of each module made?
-- definition: before_optimizations, then the passes by number, then the stages
--   after optimisation. A module that continues under a new number is one
--   module, see renumbered_modules.
-- grain: module, snapshot
-- param run
-- param program
-- column run
-- column program
-- column module_number
-- column last_number INTEGER id neutral: Number of the module in the end.
-- column rank
-- column folder VARCHAR name neutral: Folder of its files, with a slash.
-- column snapshot BIGINT count neutral: Position of the snapshot in its
--   module, from 0.
-- column module_id
-- column path
-- column stage VARCHAR name neutral: Stage of compilation.
-- column pass_step INTEGER count neutral: XLA's number of the snapshot.
-- column pipeline VARCHAR name neutral: Pass pipeline.
-- column pass_after VARCHAR name neutral: Pass that ran before the snapshot.
-- column pass_before VARCHAR name neutral: Pass that runs after it.
-- column instruction_count INTEGER count neutral: Instructions.
-- column fusion_count INTEGER count neutral: Fusion instructions.
-- column computation_count INTEGER count neutral: Computations.
WITH dumped AS (
  SELECT
    c.run AS run_name, m.program AS program_name, m.rank, m.module_number,
    coalesce(n.next_number, m.module_number) AS final_number,
    m.folder, m.module_id, m.path, m.stage, m.pass_step, m.pipeline,
    m.pass_after, m.pass_before, m.instruction_count, m.fusion_count,
    m.computation_count,
    CASE m.stage
      WHEN 'before_optimizations' THEN 0
      WHEN 'pass' THEN 1
      WHEN 'after_optimizations_before_buffer_assignment' THEN 2
      WHEN 'after_optimizations_after_buffer_assignment' THEN 3
      WHEN 'after_optimizations' THEN 4
      ELSE 5
    END AS stage_place
  FROM selected_run() AS c
  JOIN modules AS m USING (run_id)
  LEFT JOIN renumbered_modules() AS n
    ON n.run_id = m.run_id
    AND n.program = m.program
    AND n.rank IS NOT DISTINCT FROM m.rank
    AND n.module_number = m.module_number
    AND n.folder = m.folder
  WHERE $program IS NULL
    OR m.program = $program
)
SELECT
  d.run_name AS run, d.program_name AS program, d.module_number,
  d.final_number AS last_number, d.rank, d.folder,
  row_number() OVER (
    PARTITION BY d.rank, d.final_number, d.program_name, d.folder
    ORDER BY d.stage_place, d.module_number, d.pass_step, d.path
  ) - 1 AS snapshot,
  d.module_id, d.path, d.stage, d.pass_step, d.pipeline, d.pass_after,
  d.pass_before, d.instruction_count, d.fusion_count, d.computation_count
FROM dumped AS d
