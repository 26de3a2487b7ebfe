-- step: What each sighting is compared with: the last sighting of a comparable
--   shape, or the first compilation of the program in the run before.
-- grain: track, run
-- materialised: no
WITH comparable_sightings AS (
  SELECT s.track, s.run_place, s.base_run_place
  FROM (
    SELECT
      b.track, b.run_place, b.shape, c.candidate_shape,
      lag(b.run_place) OVER (
        PARTITION BY b.track, c.candidate_shape ORDER BY b.run_place
      ) AS base_run_place
    FROM sightings AS b
    JOIN comparable_pairs AS c
      ON c.track = b.track
      AND c.base_shape = b.shape
  ) AS s
  WHERE s.candidate_shape = s.shape
    AND s.base_run_place IS NOT NULL
)
SELECT
  l.track, l.run_place, b.run_id, b.place, 'series' AS relation,
  s.method, s.confidence
FROM comparable_sightings AS l
JOIN sightings AS s
  ON s.track = l.track
  AND s.run_place = l.run_place
JOIN sightings AS b
  ON b.track = l.track
  AND b.run_place = l.base_run_place
UNION ALL
SELECT
  s.track, s.run_place, k.run_id, k.place, 'again', 'compiled again', 0.9
FROM sightings AS s
JOIN run_kinds AS k
  ON k.run_place = s.run_place - 1
  AND k.called = s.program
  AND k.host_rank IS NOT DISTINCT FROM s.rank
  AND k.program_key IS NOT DISTINCT FROM s.program_key
WHERE s.earlier_run_id IS NULL
