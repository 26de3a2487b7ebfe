-- The findings about missing programs that no report has seen undone.
SELECT f.finding_id, f.first_run, f.program, f.rank, f.color
FROM findings AS f
JOIN finding_events AS e USING (finding_id)
WHERE f.change = 'failed'
  AND e.report_id IS NOT NULL
GROUP BY ALL
HAVING arg_max(e.event, e.event_number) <> 'undone'
ORDER BY f.finding_id
