-- step: What the tracks say of both sides.
-- grain: pair
SELECT
  a.*, b.track AS base_track, b.module_id AS base_id, b.shape AS base_shape,
  CASE WHEN c.track IS NULL THEN b.called ELSE c.called END AS called,
  CASE WHEN c.track IS NULL THEN b.own_rank ELSE c.own_rank END AS own_rank,
  CASE WHEN c.track IS NULL THEN b.module_number ELSE c.module_number END
    AS module_number,
  c.track, c.module_id AS candidate_id, c.run_place, c.comparable_shapes,
  coalesce(c.relation = 'again', FALSE) AS is_again
FROM asked_pairs AS a
LEFT JOIN track_points AS b
  ON b.run_id = a.base_run_id
  AND b.place = a.base_place
LEFT JOIN track_points AS c
  ON c.run_id = a.candidate_run_id
  AND c.place = a.candidate_place
