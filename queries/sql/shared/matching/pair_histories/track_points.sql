-- step: Sightings of programs on their tracks.
-- grain: track, run
SELECT
  t.track, t.run_id, t.place, t.run_place, t.module_id, t.next_run_id,
  t.relation, CAST(t.shape AS VARCHAR) AS shape,
  string_split(t.comparable_shapes, ', ') AS comparable_shapes,
  t.base_run_id, t.base_place, t.missing_run_id, t.program AS called,
  t.rank AS own_rank, t.module_number
FROM program_tracks() AS t
