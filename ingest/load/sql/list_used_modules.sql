-- Modules that runs hold: their metrics are used by all runs, their details by those
-- that are not pruned and hold them whole.
CREATE TEMP TABLE used_modules AS
SELECT DISTINCT
  module_id, locations_id, true AS measured,
  pruned_at IS NULL AND is_detailed AS detailed
FROM modules
JOIN runs USING (run_id)
WHERE module_id IS NOT NULL
