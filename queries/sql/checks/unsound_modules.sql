-- title: Unsound modules
-- question: Which module contents fail a check, so that gates leave them out?
-- definition: Module contents that fail a check; they are kept and shown
--   everywhere, but nothing is decided by them. Computed from the data each
--   time, so it cannot go stale.
-- grain: module content
-- param run VARCHAR = NULL of runs.name: Only this run; NULL for all.
-- column module_id
-- column checks VARCHAR text neutral: The checks that fail, separated by
--   commas.
SELECT
  f.module_id, string_agg(f.check_name, ', ' ORDER BY f.check_name) AS checks
FROM module_faults() AS f
GROUP BY f.module_id
