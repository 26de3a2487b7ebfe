-- title: Modules with a buffer assignment
-- question: Which module occurrences of a run have a buffer assignment?
-- definition: Occurrences of the selected run and program that have a buffer
--   assignment.
-- grain: module occurrence
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
SELECT
  m.run_id, c.run AS run, m.program AS program, m.module_number, m.rank,
  m.stage,
  coalesce(m.platform, r.platform) AS platform,
  m.module_id, m.locations_id, m.path
FROM modules AS m
JOIN selected_run() AS c USING (run_id)
JOIN runs AS r USING (run_id)
WHERE m.has_assignment
  AND ($program IS NULL OR m.program = $program)
  AND ($module_ids IS NULL OR list_contains($module_ids, m.module_id))
