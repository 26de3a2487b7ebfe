-- title: Contents of last snapshots
-- question: Which module contents are the last snapshot of a module?
-- definition: Contents of final_modules, each once. With every_run, those of
--   selected_contents, because only last snapshots have a buffer assignment.
-- grain: module content
-- param run
-- param program
-- param module_ids
-- param every_run
-- column module_id
SELECT unnest(list(DISTINCT m.module_id)) AS module_id
-- Unnested, they are taken for a few rows, and hash tables are made of these
-- rather than of what all modules have.
FROM final_modules() AS m
WHERE NOT $every_run
UNION ALL
SELECT c.module_id
FROM selected_contents(run := NULL, every_run := TRUE) AS c
WHERE $every_run
