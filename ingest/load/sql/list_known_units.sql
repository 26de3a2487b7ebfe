-- Units that need not be parsed again: their details are in the warehouse.
SELECT coalesce(list(DISTINCT unit_digest), [])
FROM modules
JOIN runs USING (run_id)
WHERE unit_digest IS NOT NULL AND pruned_at IS NULL
