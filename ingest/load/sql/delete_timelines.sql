-- Timelines of modules that only pruned runs hold.
DELETE FROM memory_timeline
WHERE module_id NOT IN (
  SELECT module_id
  FROM modules
  JOIN runs USING (run_id)
  WHERE pruned_at IS NULL AND module_id IS NOT NULL
)
