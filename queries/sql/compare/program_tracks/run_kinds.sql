-- step: Programs of a run, by what their compilations have in common.
-- grain: run, rank, program, key
SELECT
  s.run_place, s.program AS called, s.rank AS host_rank, s.program_key,
  arg_min(s.run_id, s.place) AS run_id, min(s.place) AS place,
  bool_or(s.earlier_run_id IS NOT NULL) AS is_kept
FROM sightings AS s
GROUP BY s.run_place, s.program, s.rank, s.program_key
