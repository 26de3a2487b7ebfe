-- title: Contents beside their source locations
-- question: Which module contents are selected, and with which source lines?
-- definition: Contents and source locations of final_modules; with every_run,
--   contents of module_ids that occur with one of locations_ids.
-- grain: module content, source locations
-- param run
-- param program
-- param module_ids
-- param every_run
-- param locations_ids
-- column module_id
-- column locations_id
SELECT m.module_id, m.locations_id
FROM final_modules() AS m
WHERE NOT $every_run
UNION
SELECT s.module_id, s.locations_id
FROM store.snapshots AS s
WHERE $every_run
  AND list_contains($module_ids, s.module_id)
  AND list_contains($locations_ids, s.locations_id)
