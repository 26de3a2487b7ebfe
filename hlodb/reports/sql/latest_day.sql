-- The day of the latest run.
SELECT max(r.started_at)::DATE AS latest_day
FROM runs AS r
