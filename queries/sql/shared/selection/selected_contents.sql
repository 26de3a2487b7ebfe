-- title: Contents with a buffer assignment
-- question: Which module contents with a buffer assignment are selected?
-- definition: Contents of selected_modules, each once; with every_run, those
--   of module_ids.
-- grain: module content
-- param run
-- param program
-- param module_ids
-- param every_run
-- column module_id
SELECT unnest(list(DISTINCT m.module_id)) AS module_id
-- Unnested, they are taken for a few rows, and hash tables are made of these
-- rather than of what all modules have.
FROM selected_modules() AS m
WHERE NOT $every_run
UNION ALL
-- Not by the occurrences, of which there are many.
SELECT DISTINCT s.module_id
FROM store.snapshots AS s
WHERE $every_run
  AND s.has_assignment
  AND ($program IS NULL OR s.program = $program)
  AND list_contains($module_ids, s.module_id)
