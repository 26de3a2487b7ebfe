-- title: Modules of a run
-- question: Which module snapshots does a run contain?
-- definition: Rows of modules of the selected run, program and stage, in the
--   order of their files.
-- grain: module occurrence
-- leading: program, stage, module_number, printed_total_bytes,
--   instruction_count, has_assignment, rank, computation_count
-- split: programs
-- param run
-- param program
-- param stage
-- column run
-- column program
-- column module_number
-- column rank
-- column stage
-- column pass_step INTEGER id neutral: Number of a per-pass snapshot.
-- column pass_after VARCHAR name neutral: Pass that ran before the snapshot.
-- column instruction_count INTEGER count neutral: Instructions.
-- column computation_count INTEGER count neutral: Computations.
-- column has_assignment BOOLEAN flag neutral: Whether it has a buffer
--   assignment.
-- column printed_total_bytes BIGINT bytes neutral: XLA's own 'Total bytes
--   used', over all memory spaces.
-- column module_id
-- column path
SELECT
  c.run, m.program, m.module_number, m.rank, m.stage, m.pass_step,
  m.pass_after, m.instruction_count, m.computation_count, m.has_assignment,
  m.printed_total_bytes, m.module_id, m.path
FROM modules AS m
JOIN selected_run() AS c USING (run_id)
WHERE ($program IS NULL OR m.program = $program)
  AND ($stage IS NULL OR m.stage = $stage)
ORDER BY m.rank, m.module_number, m.pass_step NULLS FIRST, m.path, m.part
