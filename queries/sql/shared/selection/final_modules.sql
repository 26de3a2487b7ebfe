-- title: The last snapshot of every compiled module
-- question: Which snapshot shows a module after all passes?
-- definition: For every module, the snapshot of last_snapshots.
-- grain: compiled module
-- param run
-- param program
-- param module_ids
-- column run_id
-- column run
-- column program
-- column module_number
-- column rank
-- column stage
-- column platform
-- column module_id
-- column locations_id
-- column path
-- column folder VARCHAR name neutral: Folder of the path, with a slash.
-- column has_source BOOLEAN flag neutral: Whether the run has a
--   before_optimizations snapshot of it.
SELECT
  s.run_id, s.run, s.program, s.module_number, s.rank, s.stage,
  coalesce(s.platform, r.platform) AS platform, s.module_id, s.locations_id,
  s.path, s.folder, s.source_id IS NOT NULL AS has_source
FROM last_snapshots() AS s
JOIN runs AS r USING (run_id)
WHERE $module_ids IS NULL
  OR list_contains($module_ids, s.module_id)
