-- Lines that no rule took, and modules without a companion, in the runs $runs.
SELECT
  r.name AS run, 'unclaimed_lines' AS code, sum(f.lines_unclaimed) AS found_count,
  min(f.path) AS example
FROM dump_files AS f
JOIN runs AS r USING (run_id)
WHERE f.run_id IN (SELECT unnest(from_json($runs, '["BIGINT"]')))
  AND f.lines_unclaimed > 0
GROUP BY ALL
UNION ALL
SELECT r.name, 'no_live_ranges', count(*), min(m.path)
FROM modules AS m
JOIN runs AS r USING (run_id)
WHERE m.run_id IN (SELECT unnest(from_json($runs, '["BIGINT"]')))
  AND m.has_assignment
  AND NOT coalesce(m.has_live_ranges, FALSE)
GROUP BY ALL
ORDER BY ALL
