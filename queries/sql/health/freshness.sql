-- title: Overdue series
-- question: Which series is overdue for a run?
-- definition: Per series, the mean time between its runs, and how far the time
--   since its last run exceeds it, as of the newest run of the warehouse or of
--   as_of. A series with one run has no cadence and is never overdue.
-- grain: series
-- leading: series, run_count, last_seen, last_run, cadence_seconds,
--   silent_seconds, overdue_seconds
-- param as_of VARCHAR = NULL: Time to compare with (UTC, such as 2026-11-20
--   08:00:00); NULL for the newest run of the warehouse.
-- column series
-- column run_count BIGINT count neutral: Runs with a known time.
-- column first_seen TIMESTAMP time neutral: Time of its first run.
-- column last_seen TIMESTAMP time neutral: Time of its last run.
-- column last_run VARCHAR name neutral: Its last run.
-- column cadence_seconds DOUBLE seconds neutral: Mean time between runs.
-- column silent_seconds DOUBLE seconds lower_is_better: Time since the last
--   run.
-- column overdue_seconds DOUBLE seconds lower_is_better: Time by which it is
--   overdue; 0 if it is not.
WITH looked AS (
  SELECT coalesce(CAST($as_of AS TIMESTAMP), newest) AS now_at
  FROM (SELECT max(started_at) AS newest FROM runs) AS times
),
grouped AS (
  SELECT
    r.series AS series_name, count(*) AS run_count,
    min(r.started_at) AS first_seen,
    max(r.started_at) AS last_seen,
    arg_min(r.name, o.place) AS last_run
  FROM runs AS r
  JOIN run_order() AS o USING (run_id)
  WHERE r.series IS NOT NULL
    AND r.started_at IS NOT NULL
  GROUP BY r.series
),
measured AS (
  SELECT
    g.*, date_diff('second', g.last_seen, l.now_at) AS silent_seconds,
    CASE WHEN g.run_count > 1
      THEN date_diff('second', g.first_seen, g.last_seen) / (g.run_count - 1)
        END
      AS cadence_seconds
  FROM grouped AS g
  CROSS JOIN looked AS l
)
SELECT
  m.series_name AS series, m.run_count, m.first_seen, m.last_seen, m.last_run,
  m.cadence_seconds, CAST(m.silent_seconds AS DOUBLE) AS silent_seconds,
  CAST(greatest(0, coalesce(m.silent_seconds - m.cadence_seconds, 0))
    AS DOUBLE)
    AS overdue_seconds
FROM measured AS m
ORDER BY overdue_seconds DESC, m.last_seen, m.series_name
