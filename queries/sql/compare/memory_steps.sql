-- title: Steps of memory in a series
-- question: In which run did a program begin to need more or less memory, or
--   go missing, and is that undone?
-- definition: Each module of program_tracks with the module it is compared
--   with, as judged by judged_pairs with min_step_bytes and min_step_ratio:
--   worse, improved and mixed. A program that the last run lacks is failed in
--   the first run without it. Noise bands are of all runs. What became of a
--   rise is fate of pair_histories, which min_delta_bytes and min_delta_ratio
--   limit.
-- grain: module, memory space
-- leading: program, space_name, base_run, run, verdict, delta_reserved_bytes,
--   candidate_reserved_bytes, fate
-- param candidate
-- param program
-- param run_ids BIGINT[] = NULL from 0: run_id of the runs, the earliest
--   first; NULL for the candidate and the latest 90 before it that base_choice
--   follows.
-- param min_step_bytes BIGINT = 0 from 0: Smallest step, in bytes.
-- param min_step_ratio DOUBLE = 0.01 from 0: Smallest step, as a share of the
--   smaller side; both limits must be reached.
-- param min_delta_bytes
-- param min_delta_ratio
-- param managed_ratio
-- param limit_devices
-- param limit_spaces
-- param limit_bytes
-- column track BIGINT id neutral: Number of the track in program_tracks.
-- column program
-- column rank
-- column module_number
-- column color
-- column space_name
-- column base_run VARCHAR name neutral: Run with the module that it is
--   compared with.
-- column run VARCHAR name neutral: Run with the step.
-- column verdict VARCHAR name neutral: worse, improved, mixed or failed.
-- column rule VARCHAR name neutral: Rule that decided the verdict, see
--   judged_pairs.
-- column base_reserved_bytes BIGINT bytes lower_is_better: Reserved bytes
--   before the step.
-- column candidate_reserved_bytes BIGINT bytes lower_is_better: Reserved bytes
--   after it.
-- column delta_reserved_bytes BIGINT bytes lower_is_better: The difference.
-- column delta_live_peak_bytes BIGINT bytes lower_is_better: Difference of the
--   live peaks.
-- column noise_band_bytes BIGINT bytes neutral: Largest difference between
--   duplicate compilations.
-- column fate VARCHAR name neutral: undone: a later run needs no more than the
--   mean of both; stands: the last run still needs more, or lacks the program;
--   NULL if unknown, or not a rise.
-- column last_reserved_bytes BIGINT bytes lower_is_better: Reserved bytes in
--   the last run that has the program, whatever its inputs.
-- column undone_run_id BIGINT id neutral: run_id of the run with the rise that
--   an improvement undoes; NULL if there is none.
-- column tags VARCHAR name neutral: packing-only: the programs are identical;
--   schedule-only: their graphs are.
-- column base_run_id BIGINT id neutral: run_id of base_run.
-- column base_place BIGINT id neutral: Place in that run, see compilations.
-- column run_id
-- column place BIGINT id neutral: Place in the run with the step; NULL if
--   missing.
-- column first_run_id BIGINT id neutral: run_id of the run since which the
--   difference stands: nearly always run_id.
-- column first_place BIGINT id neutral: Place in that run.
-- column before_run_id BIGINT id neutral: run_id of the last run before that
--   with the program.
-- column before_place BIGINT id neutral: Place in that run.
WITH past AS MATERIALIZED (
  SELECT
    unnest($run_ids) AS run_id,
    unnest(range(1, len($run_ids) + 1)) AS ordinal
  UNION ALL
  SELECT f.run_id, 91 - row_number() OVER (ORDER BY f.place)
  FROM (
    SELECT c.run_id, c.place
    FROM base_choice(
      -- No run has no name: then nothing is looked for.
      candidate := CASE WHEN $run_ids IS NULL THEN $candidate ELSE '' END
    ) AS c
    WHERE c.is_followed
    ORDER BY c.place
    LIMIT 90
  ) AS f
  UNION ALL
  SELECT r.run_id, 91
  FROM selected_run(run := $candidate) AS r
  WHERE $run_ids IS NULL
),
pairs AS MATERIALIZED (
  SELECT h.*
  FROM pair_histories(run_ids := (
    SELECT list(y.run_id ORDER BY y.ordinal) FROM past AS y
  )) AS h
  WHERE $program IS NULL
    OR h.program = $program
),
asked AS MATERIALIZED (
  SELECT DISTINCT
    p.pair, p.base_run_id, p.base_place, p.run_id, p.place
  FROM pairs AS p
),
judged AS (
  SELECT a.pair AS pair_number, j.*
  FROM judged_pairs(
    base_runs := (SELECT list(a.base_run_id ORDER BY a.pair) FROM asked AS a),
    base_places := (
      SELECT list(a.base_place ORDER BY a.pair) FROM asked AS a
    ),
    candidate_runs := (SELECT list(a.run_id ORDER BY a.pair) FROM asked AS a),
    candidate_places := (
      SELECT list(a.place ORDER BY a.pair) FROM asked AS a
    ),
    earlier_ids := (
      SELECT list(y.run_id ORDER BY y.ordinal DESC) FROM past AS y
    ),
    min_delta_bytes := $min_step_bytes, min_delta_ratio := $min_step_ratio
  ) AS j
  JOIN (
    SELECT x.pair, row_number() OVER (ORDER BY x.pair) AS ordinal
    FROM asked AS x
  ) AS a ON a.ordinal = j.pair
  WHERE j.verdict IN ('worse', 'improved', 'mixed', 'failed')
)
SELECT
  p.track, p.program, p.rank, p.module_number, j.color, j.space_name,
  b.name AS base_run, r.name AS run, j.verdict, j.rule,
  j.base_reserved_bytes, j.candidate_reserved_bytes, j.delta_reserved_bytes,
  j.delta_live_peak_bytes, j.noise_band_bytes, p.fate,
  p.last_reserved_bytes, p.undone_run_id, j.tags, p.base_run_id,
  p.base_place, p.run_id, p.place, p.first_run_id, p.first_place,
  p.before_run_id, p.before_place
FROM judged AS j
JOIN pairs AS p
  ON p.pair = j.pair_number
  AND p.color = j.color
JOIN runs AS r ON r.run_id = p.run_id
JOIN runs AS b ON b.run_id = p.base_run_id
JOIN past AS y ON y.run_id = p.run_id
ORDER BY y.ordinal, p.track, p.base_place, p.place, j.color
