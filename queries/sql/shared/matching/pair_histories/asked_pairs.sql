-- step: The pairs that are asked for; if none are, all that a track compares,
--   and programs that went missing.
-- grain: pair
SELECT
  unnest(range(1, len($base_runs) + 1)) AS pair,
  unnest($base_runs) AS base_run_id, unnest($base_places) AS base_place,
  unnest($candidate_runs) AS candidate_run_id,
  unnest($candidate_places) AS candidate_place
UNION ALL
SELECT
  row_number() OVER (ORDER BY x.run_place, x.candidate_place, x.track),
  x.base_run_id, x.base_place, x.candidate_run_id, x.candidate_place
FROM (
  SELECT
    c.run_place, c.track, b.run_id AS base_run_id, b.place AS base_place,
    c.run_id AS candidate_run_id, c.place AS candidate_place
  FROM track_points AS c
  JOIN track_points AS b
    ON b.run_id = c.base_run_id
    AND b.place = c.base_place
  -- Equal contents need equal memory.
  WHERE b.module_id <> c.module_id
  UNION ALL
  SELECT c.run_place + 1, c.track, c.run_id, c.place, c.missing_run_id, NULL
  FROM track_points AS c
  WHERE c.missing_run_id IS NOT NULL
) AS x
WHERE $base_runs IS NULL
