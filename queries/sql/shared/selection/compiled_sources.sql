-- title: What programs were compiled from
-- question: Which before_optimizations snapshot belongs to which compilation?
-- definition: Snapshots before_optimizations, with the module number of what
--   they were compiled to: their own, or the next one, see renumbered_modules.
-- grain: module occurrence
-- param program
-- param run_ids BIGINT[] = NULL from 0: run_id of the runs; NULL for all.
-- column run_id
-- column program
-- column rank
-- column folder VARCHAR name neutral: Folder of its file, with a slash.
-- column module_number
-- column module_id
-- column program_key BIGINT id neutral: Of program, entry shapes and
--   partitions.
-- column graph_fingerprint BIGINT id neutral: Of its graph.
-- column exact_fingerprint BIGINT id neutral: The same with layouts, schedule
--   and backend config.
-- column instruction_count INTEGER count neutral: Instructions it has.
SELECT
  m.run_id, m.program, m.rank, m.folder,
  coalesce(n.next_number, m.module_number) AS module_number, m.module_id,
  m.program_key, m.graph_fingerprint, m.exact_fingerprint, m.instruction_count
FROM modules AS m
LEFT JOIN renumbered_modules(
  every_run := TRUE, run_ids := $run_ids
) AS n
  ON n.run_id = m.run_id
  AND n.program = m.program
  AND n.rank IS NOT DISTINCT FROM m.rank
  AND n.module_number = m.module_number
  AND n.folder = m.folder
WHERE m.stage = 'before_optimizations'
  AND ($program IS NULL OR m.program = $program)
  AND ($run_ids IS NULL OR m.run_id IN (SELECT unnest($run_ids)))
