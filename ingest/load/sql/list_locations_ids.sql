-- What a run that is not pruned holds in detail, each with one of its paths.
SELECT locations_id, min(path)
FROM modules
JOIN runs USING (run_id)
WHERE run_id = $run_id
  AND pruned_at IS NULL
  AND is_detailed
  AND locations_id IS NOT NULL
GROUP BY locations_id
