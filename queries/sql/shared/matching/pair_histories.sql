-- title: Since when two modules differ
-- question: Since which run does the difference between two modules stand, and
--   what became of it?
-- definition: Programs are followed through run_ids by program_tracks. A
--   difference stands since the first run from which on, without a break up to
--   the candidate, the program lies on the candidate's side of the mean of
--   base and candidate. Runs in which it has other shapes are left out. If the
--   base itself has other shapes, the difference stands since the first run
--   with those of the candidate. A program that the candidate's run lacks is
--   missing since the run after the last one that has it. An improvement
--   undoes the last rise before it that reaches both limits and whose mean no
--   later run came back to, if the candidate needs no more than before that
--   rise. A rise stands by the last run, whatever its shapes, and is undone by
--   a run of its own shapes.
-- grain: pair of modules, memory space
-- steps: track_points, asked_pairs, placed_pairs, compared_pairs, track_ends,
--   known_pairs, pair_spaces, levels_with_breaks, first_runs, runs_before,
--   undone_rises
-- param base_runs BIGINT[] = NULL from 0: run_id of each base module; NULL
--   for the pairs of program_tracks with different contents: each module with
--   the one it is compared with, and each missing program.
-- param base_places BIGINT[] = NULL from 0: Their places in the run, see
--   compilations; NULL for no module.
-- param candidate_runs BIGINT[] = NULL from 0: run_id of each candidate
--   module.
-- param candidate_places BIGINT[] = NULL from 0: Their places; NULL for no
--   module.
-- param run_ids BIGINT[] = NULL from 0: run_id of the runs, the earliest
--   first; NULL for all runs of the latest run's series in their order.
-- param min_delta_bytes
-- param min_delta_ratio
-- column pair BIGINT id neutral: Position of the pair in the lists.
-- column base_run_id BIGINT id neutral: run_id of the base.
-- column base_place BIGINT id neutral: Place in it.
-- column run_id BIGINT id neutral: run_id of the candidate.
-- column place BIGINT id neutral: Place in it.
-- column program VARCHAR name neutral: Name of the program, in the candidate
--   if it is there; NULL without a track.
-- column rank
-- column module_number
-- column color
-- column track BIGINT id neutral: The candidate's track in program_tracks;
--   NULL if it has none.
-- column first_run_id BIGINT id neutral: run_id of the run since which the
--   difference stands.
-- column first_place BIGINT id neutral: Place of the program in that run; NULL
--   if it is missing there.
-- column before_run_id BIGINT id neutral: run_id of the last run before that
--   with the program, or else of the base.
-- column before_place BIGINT id neutral: Place of the program in that run.
-- column undone_run_id BIGINT id neutral: run_id of the run with the rise that
--   an improvement undoes; NULL if there is none.
-- column fate VARCHAR name neutral: undone: a later run with its shapes needs
--   no more than the mean of both, or one more compilation is gone, or a
--   missing program is back; stands: the last run needs more, whatever its
--   shapes, and the rise reaches both limits, or it lacks the program; NULL if
--   unknown, as after a run of other shapes that needs less, or not a rise.
-- column last_reserved_bytes BIGINT bytes lower_is_better: Reserved bytes in
--   the last run of the track, whatever its shapes.
WITH levels_since AS (
  SELECT
    b.pair, b.space_color,
    arg_max(b.level_bytes, b.run_place) AS last_bytes,
    min(b.level_bytes) FILTER (
      b.is_alike AND b.run_place > b.candidate_run_place
    ) AS least_bytes
  FROM levels_with_breaks AS b
  GROUP BY b.pair, b.space_color
)
SELECT
  s.pair, s.base_run_id, s.base_place, s.candidate_run_id AS run_id,
  s.candidate_place AS place, s.called AS program, s.own_rank AS rank,
  s.module_number, s.space_color AS color, s.track,
  coalesce(f.run_id, e.lacking_run_id, s.candidate_run_id) AS first_run_id,
  CASE WHEN f.run_id IS NULL
    THEN s.candidate_place ELSE f.place END AS first_place,
  coalesce(b.run_id, e.last_run_id, s.base_run_id) AS before_run_id,
  coalesce(b.place, e.last_place, s.base_place) AS before_place,
  u.run_id AS undone_run_id,
  CASE
    WHEN s.candidate_place IS NULL AND e.track IS NOT NULL THEN 'stands'
    WHEN s.candidate_place IS NULL AND g.track IS NOT NULL THEN 'undone'
    WHEN s.base_id IS NULL OR s.track IS NULL
      OR s.candidate_bytes <= s.base_bytes
      THEN NULL
    WHEN s.is_again AND NOT s.is_there
      OR 2 * d.least_bytes <= s.base_bytes + s.candidate_bytes
      THEN 'undone'
    WHEN s.is_there
      AND 2 * d.last_bytes > s.base_bytes + s.candidate_bytes
      AND s.candidate_bytes - s.base_bytes >= $min_delta_bytes
      AND s.candidate_bytes - s.base_bytes >= $min_delta_ratio * s.base_bytes
      THEN 'stands'
  END AS fate,
  d.last_bytes AS last_reserved_bytes
FROM pair_spaces AS s
LEFT JOIN first_runs AS f
  ON f.pair = s.pair
  AND f.space_color = s.space_color
LEFT JOIN runs_before AS b
  ON b.pair = s.pair
  AND b.space_color = s.space_color
LEFT JOIN undone_rises AS u
  ON u.pair = s.pair
  AND u.space_color = s.space_color
LEFT JOIN levels_since AS d
  ON d.pair = s.pair
  AND d.space_color = s.space_color
-- Where the last run has the base's program, another became of it.
LEFT JOIN track_points AS g
  ON s.candidate_place IS NULL
  AND g.run_id = s.base_run_id
  AND g.place = s.base_place
LEFT JOIN track_ends AS e
  ON e.track = g.track
  AND e.lacking_run_id IS NOT NULL
ORDER BY s.pair, s.space_color
