-- step: Programs that the next run lacks, and the last one, too. As many
--   programs of a name as there are new ones are not missing: these may be
--   what became of them.
-- grain: run, rank, program, key
-- materialised: no
WITH new_kinds AS (
  SELECT k.run_place, k.called, k.host_rank, count(*) AS times
  FROM run_kinds AS k
  WHERE NOT k.is_kept
  GROUP BY k.run_place, k.called, k.host_rank
),
lost_kinds AS (
  SELECT
    e.run_place, e.program AS called, e.rank AS host_rank, e.program_key,
    row_number() OVER (
      PARTITION BY e.run_place, e.program, e.rank ORDER BY min(e.track)
    ) AS ordinal
  FROM sightings AS e
  JOIN track_lasts AS t
    ON t.track = e.track
    AND t.run_place = e.run_place
  ANTI JOIN run_kinds AS k
    ON k.run_place = e.run_place + 1
    AND k.called = e.program
    AND k.host_rank IS NOT DISTINCT FROM e.rank
    AND k.program_key IS NOT DISTINCT FROM e.program_key
  GROUP BY e.run_place, e.program, e.rank, e.program_key
)
SELECT
  l.run_place, l.called, l.host_rank, l.program_key, y.run_id
FROM lost_kinds AS l
JOIN ordered_runs AS y ON y.run_place = l.run_place + 1
LEFT JOIN new_kinds AS b
  ON b.run_place = l.run_place + 1
  AND b.called = l.called
  AND b.host_rank IS NOT DISTINCT FROM l.host_rank
ANTI JOIN run_kinds AS k
  ON k.run_place = (SELECT max(z.run_place) FROM ordered_runs AS z)
  AND k.called = l.called
  AND k.host_rank IS NOT DISTINCT FROM l.host_rank
  AND k.program_key IS NOT DISTINCT FROM l.program_key
WHERE l.ordinal > coalesce(b.times, 0)
