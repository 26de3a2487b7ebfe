-- What could not be read in the runs $runs.
SELECT
  r.name AS run, j.code, count(*) AS reject_count,
  arg_min(
    j.path || coalesce(':' || j.line, ''), (j.path, coalesce(j.line, 0))
  ) AS example
FROM rejects AS j
JOIN runs AS r USING (run_id)
WHERE j.run_id IN (SELECT unnest(from_json($runs, '["BIGINT"]')))
GROUP BY ALL
ORDER BY ALL
