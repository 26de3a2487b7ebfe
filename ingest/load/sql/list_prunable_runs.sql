-- Runs that are still whole but neither among the $keep latest of their series nor
-- within $age of the latest run of all.
WITH ranked AS (
  SELECT
    run_id, name, series, pruned_at,
    coalesce(started_at, ingested_at) AS happened_at,
    row_number() OVER (
      PARTITION BY series
      ORDER BY coalesce(started_at, ingested_at) DESC, run_id DESC
    ) AS place
  FROM runs
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
