-- title: A module after each pass
-- question: Which passes changed a module, its size and its memory?
-- definition: The snapshots of every module of the run that was dumped after
--   passes, in the order of their making: before_optimizations, the passes by
--   number, the stages after optimisation. is_changed compares a snapshot with
--   the one before it; source locations do not count. Memory is that of color
--   0 if the snapshot has a buffer assignment, else NULL.
-- grain: module, snapshot
-- leading: program, snapshot, stage, pass_after, is_changed,
--   instruction_count, reserved_bytes, live_peak_bytes
-- split: programs
-- param run
-- param program
-- column run
-- column program
-- column module_number
-- column rank
-- column snapshot BIGINT count neutral: Position of the snapshot in its
--   module, from 0.
-- column stage VARCHAR name neutral: Stage of compilation.
-- column pass_step INTEGER count neutral: XLA's number of the snapshot.
-- column pipeline VARCHAR name neutral: Pass pipeline.
-- column pass_after VARCHAR name neutral: Pass that ran before the snapshot.
-- column pass_before VARCHAR name neutral: Pass that runs after it.
-- column is_changed BOOLEAN flag neutral: Whether it differs from the previous
--   snapshot.
-- column instruction_count INTEGER count neutral: Instructions.
-- column delta_instruction_count INTEGER count neutral: Change since the
--   previous snapshot.
-- column fusion_count INTEGER count neutral: Fusion instructions.
-- column computation_count INTEGER count neutral: Computations.
-- column reserved_bytes BIGINT bytes lower_is_better: Reserved bytes of color
--   0.
-- column live_peak_bytes BIGINT bytes lower_is_better: Live peak of color 0.
WITH ordered AS (
  SELECT
    d.*,
    lag(d.module_id) OVER snapshots AS module_before,
    lag(d.instruction_count) OVER snapshots AS instructions_before
  FROM pass_snapshots() AS d
  WINDOW snapshots AS (
    PARTITION BY d.rank, d.last_number, d.program, d.folder
    ORDER BY d.snapshot
  )
)
SELECT
  o.run, o.program, o.module_number, o.rank,
  o.snapshot, o.stage, o.pass_step, o.pipeline, o.pass_after, o.pass_before,
  o.module_id <> o.module_before AS is_changed, o.instruction_count,
  o.instruction_count - o.instructions_before AS delta_instruction_count,
  o.fusion_count, o.computation_count, p.reserved_bytes, p.live_peak_bytes
FROM ordered AS o
LEFT JOIN memory_profile AS p ON p.module_id = o.module_id
  AND p.color = 0
ORDER BY
  o.rank, o.last_number, o.program, o.folder, o.snapshot
