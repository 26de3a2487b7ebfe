-- title: Contents of last snapshots
-- question: Which module contents show a module as it was compiled in the end?
-- definition: Contents of final_modules, each once; of every run those of
--   chosen_contents, for a buffer assignment belongs to a last snapshot.
-- grain: module content
-- needs: chosen_contents, final_modules
-- param run
-- param program
-- param module_ids
-- param every_run
-- column module_id
SELECT unnest(list(DISTINCT m.module_id)) AS module_id
-- Unnested, they are taken for a few rows, and hash tables are made of these
-- rather than of what all modules have.
FROM final_modules(
  run := $run, program := $program, module_ids := $module_ids
) AS m
WHERE NOT $every_run
UNION ALL
SELECT c.module_id
FROM chosen_contents(
  program := $program, module_ids := $module_ids, every_run := TRUE
) AS c
WHERE $every_run
