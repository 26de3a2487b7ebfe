-- title: Compilations of two runs, side by side
-- question: Which compilation of the candidate is compared with which one of
--   the base, even if a program was renamed, renumbered or missing?
-- definition: Rows of module_ladder for the two runs, with substitutes if the
--   base has no suitable compilation. relation: matched; again (one more
--   compilation of a program of the base, compared with the first one there);
--   series (the base has it with other shapes; the last earlier run with
--   comparable ones is used); recovered (the base lacks it or its buffer
--   assignment; the last earlier run with it is used); new; missing (the
--   candidate lacks it); fewer (it is only compiled fewer times, or a new
--   program of its name and rank may be its successor). Earlier runs are those
--   of earlier_ids, or else the latest 90 that base_choice follows, unless a
--   base is named: none stands in for that. Each is matched by the same rules.
--   With window_ids, a program is compared with the run of the window in which
--   it reserved least, with one row per memory space.
-- grain: pair of compilations, with window_ids memory space too
-- steps: paired_runs, laddered_pairs, direct_pairs, compiled_again,
--   window_pairs, best_of_window, open_modules, stand_ins, missing_programs
-- param base
-- param candidate
-- param program VARCHAR = NULL of modules.program: Only pairs with this
--   program on at least one side; NULL for all.
-- param base_program VARCHAR = NULL of modules.program: Only this program of
--   the base; together with program, the pair of these two, whatever their
--   names.
-- param follow
-- param earlier_ids
-- param window_ids
-- param base_ids BIGINT[] = NULL from 0: run_id of many bases, instead of base
--   and candidate; follow has to be false, without window_ids.
-- param candidate_ids BIGINT[] = NULL from 0: run_id of their candidates, in
--   the same order.
-- column pair_id BIGINT id neutral: Number of the pair.
-- column relation VARCHAR name neutral: matched, again, series, recovered,
--   new, missing or fewer.
-- column method VARCHAR name neutral: What is equal, see match_rungs.
-- column confidence DOUBLE score higher_is_better: Confidence of the match,
--   from 0 to 1.
-- column differing_keys VARCHAR name neutral: Differences of inputs or device
--   that make the two incomparable; empty if they are comparable.
-- column color INTEGER id neutral: Memory space of the row; NULL for all.
-- column base VARCHAR name neutral: Run of the base module.
-- column instead_of VARCHAR name neutral: The base that this run replaces.
-- column candidate
-- column rank
-- column base_rank INTEGER id neutral: Rank in the base; NULL where its files
--   name none.
-- column candidate_rank INTEGER id neutral: The same in the candidate.
-- column base_run_id BIGINT id neutral: run_id of the base.
-- column candidate_run_id BIGINT id neutral: run_id of the candidate.
-- column base_place BIGINT id neutral: Place in its run, see compilations.
-- column candidate_place BIGINT id neutral: The same in the candidate.
-- column base_program VARCHAR name neutral: Name of the program in the base.
-- column candidate_program VARCHAR name neutral: Its name in the candidate.
-- column base_module_number INTEGER id neutral: XLA's number of the module in
--   the base.
-- column candidate_module_number INTEGER id neutral: The same in the
--   candidate.
-- column base_module_id BIGINT id neutral: Last snapshot in the base.
-- column candidate_module_id BIGINT id neutral: The same in the candidate.
-- column base_locations_id BIGINT id neutral: Source locations in the base.
-- column candidate_locations_id BIGINT id neutral: The same in the candidate.
-- column base_path VARCHAR name neutral: File of the snapshot in the base.
-- column candidate_path VARCHAR name neutral: The same in the candidate.
-- column base_folder VARCHAR name neutral: Folder of the snapshot in the base.
-- column candidate_folder VARCHAR name neutral: The same in the candidate.
-- column base_has_assignment BOOLEAN flag neutral: Whether the base has its
--   buffer assignment.
-- column candidate_has_assignment BOOLEAN flag neutral: Whether the candidate
--   has.
-- column base_exact BIGINT id neutral: exact_fingerprint in the base.
-- column candidate_exact BIGINT id neutral: The same in the candidate.
-- column base_graph BIGINT id neutral: graph_fingerprint in the base.
-- column candidate_graph BIGINT id neutral: The same in the candidate.
-- column base_source BIGINT id neutral: exact_fingerprint of its source.
-- column candidate_source BIGINT id neutral: The same in the candidate.
-- column platform
WITH related AS (
  SELECT
    CASE
      WHEN s.candidate_place IS NULL AND d.candidate_place IS NULL
        THEN CASE WHEN l.called IS NULL THEN 'fewer' ELSE 'missing' END
      WHEN s.candidate_place IS NULL AND d.base_place IS NULL THEN 'new'
      WHEN s.candidate_place IS NULL THEN 'matched'
      WHEN d.base_place IS NULL OR NOT d.base_has_assignment THEN 'recovered'
      ELSE 'series'
    END AS relation,
    CASE WHEN s.candidate_place IS NULL THEN d ELSE s END AS m,
    d.pair AS run_pair,
    CAST(NULL AS INTEGER) AS space_color
  FROM (SELECT x.* EXCLUDE (is_same_device) FROM direct_pairs AS x) AS d
  LEFT JOIN stand_ins AS s
    ON s.candidate_place = d.candidate_place
    -- Of other shapes, too, it is no better than the base.
    AND (
      d.base_place IS NULL
      OR NOT d.base_has_assignment
      OR s.differing_keys = ''
    )
  LEFT JOIN missing_programs AS l
    ON d.candidate_place IS NULL
    AND l.pair = d.pair
    AND l.rank IS NOT DISTINCT FROM d.rank
    AND l.called = d.base_program
    AND l.kind_key IS NOT DISTINCT FROM d.base_key
    AND d.base_has_assignment
  ANTI JOIN compiled_again AS a
    ON a.pair = d.pair
    AND a.candidate_place = d.candidate_place
  ANTI JOIN best_of_window AS w ON w.candidate_place = d.candidate_place
  UNION ALL
  SELECT 'matched', m, 1, b.space_color
  FROM best_of_window AS b
  JOIN laddered_pairs AS m
    ON m.pair = b.pair
    AND m.candidate_place = b.candidate_place
),
all_pairs AS (
  SELECT r.relation, r.space_color, r.run_pair, unnest(r.m)
  FROM related AS r
  UNION ALL
  SELECT
    'again', NULL, d.pair,
    d.* EXCLUDE (is_same_device) REPLACE (
      'compiled again' AS method, 0.9 AS confidence,
      CASE WHEN d.is_same_device THEN '' ELSE 'device' END AS differing_keys,
      a.base.base_run_id AS base_run_id, a.base.base_place AS base_place,
      a.base.base_program AS base_program, a.base.base_key AS base_key,
      a.base.base_module_number AS base_module_number,
      a.base.base_rank AS base_rank, a.base.base_platform AS base_platform,
      a.base.base_module_id AS base_module_id,
      a.base.base_locations_id AS base_locations_id,
      a.base.base_path AS base_path, a.base.base_folder AS base_folder,
      a.base.base_has_assignment AS base_has_assignment,
      a.base.base_exact AS base_exact, a.base.base_graph AS base_graph,
      a.base.base_source AS base_source
    )
  FROM direct_pairs AS d
  JOIN compiled_again AS a
    ON a.pair = d.pair
    AND a.candidate_place = d.candidate_place
)
SELECT
  row_number() OVER (
    ORDER BY
      w.run_pair, w.candidate_place NULLS LAST, w.base_place, w.space_color
  ) AS pair_id,
  w.relation, w.method, w.confidence, w.differing_keys,
  w.space_color AS color, b.name AS base,
  CASE WHEN w.relation = 'series' THEN p.base END AS instead_of,
  p.candidate, w.rank, w.base_rank, w.candidate_rank, w.base_run_id,
  w.candidate_run_id, w.base_place, w.candidate_place, w.base_program,
  w.candidate_program, w.base_module_number, w.candidate_module_number,
  w.base_module_id, w.candidate_module_id, w.base_locations_id,
  w.candidate_locations_id, w.base_path, w.candidate_path, w.base_folder,
  w.candidate_folder, w.base_has_assignment, w.candidate_has_assignment,
  w.base_exact, w.candidate_exact, w.base_graph, w.candidate_graph,
  w.base_source, w.candidate_source,
  coalesce(w.candidate_platform, w.base_platform) AS platform
FROM all_pairs AS w
JOIN paired_runs AS p ON p.pair = w.run_pair
LEFT JOIN runs AS b ON b.run_id = w.base_run_id
WHERE $program IS NULL
  OR $program IN (w.base_program, w.candidate_program)
