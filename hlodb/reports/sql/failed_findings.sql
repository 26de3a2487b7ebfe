-- The findings about missing programs that no report has seen undone. Of a lone host is
-- one where all modules of the run that lacked it have its rank, or none, as the finding.
SELECT
  f.finding_id, f.first_run,
  (
    SELECT count(DISTINCT coalesce(m.rank, -1)) = 1
      AND any_value(m.rank) IS NOT DISTINCT FROM f.rank
    FROM runs AS r
    JOIN modules AS m USING (run_id)
    WHERE r.name = f.first_run
  ) AS is_of_lone_host,
  f.program, f.rank, f.color
FROM findings AS f
JOIN finding_events AS e USING (finding_id)
WHERE f.change = 'failed'
  AND e.report_id IS NOT NULL
GROUP BY ALL
HAVING arg_max(e.event, e.event_number) <> 'undone'
ORDER BY f.finding_id
