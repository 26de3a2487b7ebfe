-- Every finding with its last decision, the undecided and largest first. Waivers are
-- compared with the day $today. What was noted does not close what needs a decision.
WITH decisions AS (
  SELECT
    e.finding_id, arg_max(e.event, e.event_number) AS status,
    arg_max(coalesce(e.reason, ''), e.event_number) AS reason,
    arg_max(coalesce(e.until, ''), e.event_number) AS until,
    arg_max(coalesce(e.actor, ''), e.event_number) AS actor,
    max(e.event_number) AS event_number
  FROM finding_events AS e
  WHERE e.report_id IS NULL
  GROUP BY e.finding_id
),
sightings AS (
  SELECT
    e.finding_id, count_if(e.event <> 'undone') AS seen_count,
    coalesce(
      arg_max(e.event, e.event_number) FILTER (WHERE e.event <> 'noted'), 'noted'
    ) AS last_event,
    max(e.event_number) AS event_number
  FROM finding_events AS e
  WHERE e.report_id IS NOT NULL
  GROUP BY e.finding_id
)
SELECT
  f.finding_id,
  CASE
    WHEN s.last_event = 'outgrown' AND s.event_number > d.event_number THEN 'outgrown'
    WHEN d.status = 'waived' AND try_cast(d.until AS DATE) <= $today THEN 'expired'
    WHEN d.status <> 'reopened' THEN d.status
    WHEN s.last_event IN ('undone', 'noted') THEN s.last_event
    ELSE 'open'
  END AS status,
  f.change, f.program, f.space_name, f.candidate_bytes - f.base_bytes AS delta_bytes,
  f.first_run, coalesce(s.seen_count, 0) AS seen_count, f.cause_title,
  nullif(d.until, '') AS until, nullif(d.actor, '') AS actor,
  nullif(d.reason, '') AS reason
FROM findings AS f
LEFT JOIN decisions AS d USING (finding_id)
LEFT JOIN sightings AS s USING (finding_id)
ORDER BY
  status NOT IN ('open', 'outgrown', 'expired'),
  abs(f.candidate_bytes - f.base_bytes) DESC NULLS LAST,
  f.finding_id
