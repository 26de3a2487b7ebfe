-- title: Matched modules of pairs of runs
-- question: Which modules of two runs are the same program, even if it was
--   renamed or renumbered?
-- definition: Modules of compilations, matched by the rules of match_rungs:
--   for each key, the n-th in the base, by rank, program, module number and
--   path, is matched with the n-th in the candidate. No rule prefers a side.
--   Remaining modules are matched by likeness, the greatest first: those with
--   equal entry shapes, whatever the order of arguments and of results, or
--   with an equal name and at most 100 positions apart among the remaining
--   ones; the likeness of the opcodes is multiplied by
--   that of the entry arrays (by element type and number of dimensions,
--   arguments and results separately). A run without ranks and a run of one
--   rank count as the same host. Modules without a partner have a row of their
--   own.
-- grain: pair of modules
-- steps: asked_runs, compiled_modules, run_pairs, module_sides, rung_matches,
--   unmatched_modules, possible_pairs, opcode_likenesses, argument_likenesses,
--   alike_matches
-- param base_ids BIGINT[] = NULL: Numbers of the runs to compare with.
-- param candidate_ids BIGINT[] = NULL: Numbers of the runs in question, in the
--   same order.
-- param base_program VARCHAR = NULL: Only this program of the base.
-- param candidate_program VARCHAR = NULL: Only this program of the candidate;
--   with base_program the same one, whatever both are called.
-- param assigned_only BOOLEAN = false: Only modules with a buffer assignment.
-- column pair BIGINT id neutral: Position of the pair of runs in the lists.
-- column method VARCHAR name neutral: What is equal, see match_rungs; NULL
--   without a partner.
-- column confidence DOUBLE score higher_is_better: Confidence of the match,
--   from 0 to 1.
-- column rank INTEGER id neutral: Rank in the candidate's terms.
-- column differing_keys VARCHAR name neutral: Differences of the inputs that
--   make the two incomparable; empty if they are comparable.
-- column base_run_id BIGINT id neutral: run_id of the base.
-- column base_place BIGINT id neutral: Place of the module in its run, see
--   compilations; NULL where only the other run has it, as all of these.
-- column base_program VARCHAR name neutral: Name of the program there.
-- column base_key BIGINT id neutral: Its program_key.
-- column base_module_number INTEGER id neutral: XLA's number of the module.
-- column base_rank INTEGER id neutral: Rank that its files name.
-- column base_platform VARCHAR name neutral: What it was compiled for.
-- column base_module_id BIGINT id neutral: Its content.
-- column base_locations_id BIGINT id neutral: Its source locations.
-- column base_path VARCHAR name neutral: Its file.
-- column base_folder VARCHAR name neutral: Folder of that, with a slash.
-- column base_has_assignment BOOLEAN flag neutral: Whether it has a buffer
--   assignment.
-- column base_exact BIGINT id neutral: Its exact_fingerprint.
-- column base_graph BIGINT id neutral: Its graph_fingerprint.
-- column base_source BIGINT id neutral: exact_fingerprint of its source.
-- column candidate_run_id BIGINT id neutral: run_id of the candidate.
-- column candidate_place BIGINT id neutral: Place of the module in its run,
--   see compilations; NULL where only the other run has it, as all of these.
-- column candidate_program VARCHAR name neutral: Name of the program there.
-- column candidate_key BIGINT id neutral: Its program_key.
-- column candidate_module_number INTEGER id neutral: XLA's number of the
--   module.
-- column candidate_rank INTEGER id neutral: Rank that its files name.
-- column candidate_platform VARCHAR name neutral: What it was compiled for.
-- column candidate_module_id BIGINT id neutral: Its content.
-- column candidate_locations_id BIGINT id neutral: Its source locations.
-- column candidate_path VARCHAR name neutral: Its file.
-- column candidate_folder VARCHAR name neutral: Folder of that, with a slash.
-- column candidate_has_assignment BOOLEAN flag neutral: Whether it has a
--   buffer assignment.
-- column candidate_exact BIGINT id neutral: Its exact_fingerprint.
-- column candidate_graph BIGINT id neutral: Its graph_fingerprint.
-- column candidate_source BIGINT id neutral: exact_fingerprint of its source.
WITH matches AS (
  SELECT f.pair, f.base_place, f.candidate_place, f.rung, NULL AS score
  FROM rung_matches AS f
  UNION ALL
  SELECT a.pair, a.base_place, a.candidate_place, a.rung, a.score
  FROM alike_matches AS a
  UNION ALL
  SELECT
    o.pair, CASE WHEN NOT o.is_candidate THEN o.place END,
    CASE WHEN o.is_candidate THEN o.place END, NULL, NULL
  FROM unmatched_modules AS o
  ANTI JOIN (
    SELECT x.pair, FALSE AS is_candidate, x.base_place AS place
    FROM alike_matches AS x
    UNION ALL
    SELECT x.pair, TRUE, x.candidate_place FROM alike_matches AS x
  ) AS a
    ON a.pair = o.pair
    AND a.is_candidate = o.is_candidate
    AND a.place = o.place
)
SELECT
  m.pair, r.method, coalesce(r.confidence, m.score) AS confidence,
  CASE WHEN c.place IS NULL THEN b.rank ELSE c.rank END AS rank,
  CASE
    WHEN b.place IS NOT NULL AND c.place IS NOT NULL THEN k.differing_keys
  END AS differing_keys,
  p.base_run_id AS base_run_id, m.base_place AS base_place,
  b.program AS base_program, b.program_key AS base_key,
  b.module_number AS base_module_number, b.own_rank AS base_rank,
  b.platform AS base_platform, b.module_id AS base_module_id,
  b.locations_id AS base_locations_id, b.path AS base_path,
  b.folder AS base_folder, b.has_assignment AS base_has_assignment,
  b.exact_fingerprint AS base_exact, b.graph_fingerprint AS base_graph,
  b.source_exact AS base_source,
  p.candidate_run_id AS candidate_run_id, m.candidate_place AS candidate_place,
  c.program AS candidate_program, c.program_key AS candidate_key,
  c.module_number AS candidate_module_number, c.own_rank AS candidate_rank,
  c.platform AS candidate_platform, c.module_id AS candidate_module_id,
  c.locations_id AS candidate_locations_id, c.path AS candidate_path,
  c.folder AS candidate_folder, c.has_assignment AS candidate_has_assignment,
  c.exact_fingerprint AS candidate_exact,
  c.graph_fingerprint AS candidate_graph,
  c.source_exact AS candidate_source
FROM matches AS m
JOIN run_pairs AS p USING (pair)
LEFT JOIN match_rungs() AS r ON r.rung = m.rung
LEFT JOIN (SELECT * FROM module_sides WHERE NOT is_candidate) AS b
  ON b.pair = m.pair
  AND b.place = m.base_place
LEFT JOIN (SELECT * FROM module_sides WHERE is_candidate) AS c
  ON c.pair = m.pair
  AND c.place = m.candidate_place,
LATERAL (
  SELECT d.*
  FROM differing_keys(
    base_key := b.program_key, base_shapes := b.entry_shapes,
    base_source := b.source_shapes, base_partitions := b.num_partitions,
    base_platform := b.platform, candidate_key := c.program_key,
    candidate_shapes := c.entry_shapes, candidate_source := c.source_shapes,
    candidate_partitions := c.num_partitions, candidate_platform := c.platform
  ) AS d
) AS k
