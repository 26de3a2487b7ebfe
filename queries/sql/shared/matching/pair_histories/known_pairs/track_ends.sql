-- step: The last sighting of each track, and the run that lacks it; NULL where
--   it reaches the last run.
-- grain: track
-- materialised: no
SELECT
  p.track, arg_max(p.run_id, p.run_place) AS last_run_id,
  arg_max(p.place, p.run_place) AS last_place,
  -- NULL counts, too: the track reaches the last run.
  arg_max(struct_pack(n := p.next_run_id), p.run_place).n AS lacking_run_id
FROM track_points AS p
GROUP BY p.track
