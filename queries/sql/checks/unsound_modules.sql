-- title: Unsound modules
-- question: Which module contents fail a check, so that gates leave them out?
-- definition: Module contents that fail a check. They stay in the warehouse
--   and are shown everywhere, but gates ignore them. Computed from the data
--   each time, so it is never out of date.
-- grain: module content
-- param run VARCHAR = NULL of runs.name: Only this run; NULL for all.
-- column module_id
-- column checks VARCHAR text neutral: The checks that fail, separated by
--   commas.
SELECT
  f.module_id, string_agg(f.check_name, ', ' ORDER BY f.check_name) AS checks
FROM module_faults() AS f
GROUP BY f.module_id
