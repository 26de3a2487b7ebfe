-- Lines that no rule took in the runs $runs.
SELECT
  r.name AS run, 'unclaimed_lines' AS code, sum(f.lines_unclaimed) AS found_count,
  min(f.path) AS example
FROM dump_files AS f
JOIN runs AS r USING (run_id)
WHERE f.run_id IN (SELECT unnest(from_json($runs, '["BIGINT"]')))
  AND f.lines_unclaimed > 0
GROUP BY ALL
ORDER BY ALL
