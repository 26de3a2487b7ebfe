-- title: Programs followed through a series
-- question: Which module of each run is which program, even after a rename or
--   a missing run?
-- definition: Modules with a buffer assignment, matched from each run to the
--   next by module_ladder. A module that disappears and one that appears in a
--   later run are matched on the same ladder; the latest such run counts. Each
--   row but the first of a track says which module it continues, how it was
--   matched, and with what confidence. A module is compared with the last
--   comparable one of its track. If a module begins a track, and the previous
--   run has a program with its name, shapes and rank, it is one more
--   compilation of that program, compared with the first one there. A program
--   is missing, unless it is only compiled fewer times, or as many programs of
--   its name are new.
-- grain: compiled module
-- steps: ordered_runs, compiled_modules, matches_of_neighbours, ended, begun,
--   gaps, links, sightings, track_lasts, comparable_pairs, run_kinds, bases,
--   missing_programs
-- leading: track, run, program, rank, method, confidence
-- param run_ids BIGINT[] = NULL from 0: run_id of the runs, the earliest
--   first; NULL for all runs of the latest run's series in their order.
-- column track BIGINT id neutral: Number of the track: one program through the
--   series.
-- column run_id
-- column run
-- column run_place BIGINT id neutral: Position of the run, 1 for the earliest.
-- column place BIGINT id neutral: Position of the module in its run, see
--   compilations.
-- column program
-- column rank
-- column module_number
-- column module_id
-- column shape BIGINT id neutral: Number of its shapes in the track: 1 for the
--   earliest.
-- column comparable_shapes VARCHAR name neutral: Shapes of the track that can
--   be compared with its own, see differing_keys; separated by commas.
-- column method VARCHAR name neutral: How it was matched with the earlier
--   module, see match_rungs; NULL for the first row.
-- column confidence DOUBLE score higher_is_better: Confidence of the match,
--   from 0 to 1.
-- column earlier_run_id BIGINT id neutral: run_id of the previous module of
--   the track.
-- column earlier_place BIGINT id neutral: Position of that module in its run.
-- column base_run_id BIGINT id neutral: run_id of the module that it is
--   compared with.
-- column base_place BIGINT id neutral: Position of that module in its run.
-- column relation VARCHAR name neutral: series, or again for one more
--   compilation; NULL without a module to compare with.
-- column base_method VARCHAR name neutral: How the two were matched, see
--   match_rungs.
-- column base_confidence DOUBLE score higher_is_better: Confidence of the
--   match, from 0 to 1.
-- column next_run_id BIGINT id neutral: run_id of the run after its own; NULL
--   in the last run.
-- column missing_run_id BIGINT id neutral: run_id of the first run without the
--   program, if the last run lacks it, too.
WITH comparable_shapes_of AS (
  SELECT
    c.track, c.candidate_shape AS shape, c.candidate_number AS shape_number,
    string_agg(c.base_number, ', ' ORDER BY c.base_number)
      AS comparable_shapes
  FROM comparable_pairs AS c
  GROUP BY c.track, c.candidate_shape, c.candidate_number
)
SELECT
  s.track, s.run_id, s.run, s.run_place, s.place, s.program,
  s.own_rank AS rank, s.module_number, s.module_id, n.shape_number AS shape,
  n.comparable_shapes, s.method, s.confidence,
  s.earlier_run_id, s.earlier_place, b.run_id AS base_run_id,
  b.place AS base_place, b.relation, b.method AS base_method,
  b.confidence AS base_confidence, y.run_id AS next_run_id,
  m.run_id AS missing_run_id
FROM sightings AS s
LEFT JOIN ordered_runs AS y ON y.run_place = s.run_place + 1
JOIN comparable_shapes_of AS n
  ON n.track = s.track
  AND n.shape = s.shape
LEFT JOIN bases AS b
  ON b.track = s.track
  AND b.run_place = s.run_place
JOIN track_lasts AS t ON t.track = s.track
LEFT JOIN missing_programs AS m
  ON m.run_place = s.run_place
  AND m.called = s.program
  AND m.host_rank IS NOT DISTINCT FROM s.rank
  AND m.program_key IS NOT DISTINCT FROM s.program_key
  AND s.run_place = t.run_place
ORDER BY s.track, s.run_place
