-- The last decision about every finding that has one.
SELECT
  e.finding_id, arg_max(e.event, e.event_number) AS event,
  arg_max(coalesce(e.reason, ''), e.event_number) AS reason,
  nullif(arg_max(coalesce(e.until, ''), e.event_number), '') AS until,
  nullif(arg_max(coalesce(e.actor, ''), e.event_number), '') AS actor,
  nullif(arg_max(coalesce(e.candidate_bytes, -1), e.event_number), -1) AS candidate_bytes
FROM finding_events AS e
WHERE e.report_id IS NULL
GROUP BY e.finding_id
ORDER BY e.finding_id
