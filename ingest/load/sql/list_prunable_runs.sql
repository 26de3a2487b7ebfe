-- Runs that are still whole but neither among the $keep latest of their series nor
-- within $age of the latest run of all. A run that is dated later than it was
-- ingested counts as of then: it must not make all others old.
WITH dated AS (
  SELECT
    run_id, name, series, pruned_at,
    least(started_at, ingested_at) AS happened_at
  FROM runs
),
ranked AS (
  SELECT
    *,
    row_number() OVER (
      PARTITION BY series ORDER BY happened_at DESC, name DESC
    ) AS place
  FROM dated
)
SELECT run_id, name
FROM ranked
WHERE pruned_at IS NULL
  AND ($series IS NULL OR series = $series)
  AND ($keep IS NULL OR place > $keep)
  AND (
    $age IS NULL
    OR happened_at < (SELECT max(happened_at) FROM ranked) - $age::INTERVAL
  )
ORDER BY run_id
