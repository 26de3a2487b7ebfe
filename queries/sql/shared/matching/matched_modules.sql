-- title: Modules of two runs, side by side
-- question: Which module of the candidate is compared with which of the base?
-- definition: Rows of matched_compilations in which at least one side has a
--   buffer assignment. Programs that are only compiled fewer times are left
--   out. If relation is series or recovered, an earlier run replaces the base.
-- grain: pair of module occurrences, with window_ids memory space too
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
-- column base
-- column candidate
-- column program
-- column rank
-- column base_module_number INTEGER id neutral: XLA's number of the module in
--   the base.
-- column candidate_module_number INTEGER id neutral: The same in the
--   candidate.
-- column base_rank INTEGER id neutral: Rank in the base; NULL where its files
--   name none.
-- column candidate_rank INTEGER id neutral: The same in the candidate.
-- column base_run_id BIGINT id neutral: run_id of the base.
-- column candidate_run_id BIGINT id neutral: run_id of the candidate.
-- column base_module_id BIGINT id neutral: Content in the base; NULL where
--   new.
-- column candidate_module_id BIGINT id neutral: Content in the candidate; NULL
--   where missing.
-- column base_locations_id BIGINT id neutral: Source locations in the base.
-- column candidate_locations_id BIGINT id neutral: Source locations in the
--   candidate.
-- column is_comparable BOOLEAN flag neutral: Whether both sides exist, without
--   differing_keys.
-- column is_identical BOOLEAN flag neutral: Whether exact_fingerprint is the
--   same.
-- column platform
-- column base_folder VARCHAR name neutral: Folder of its file in the base.
-- column candidate_folder VARCHAR name neutral: The same in the candidate.
-- column base_program VARCHAR name neutral: Name of the program in the base.
-- column candidate_program VARCHAR name neutral: Its name in the candidate.
-- column relation VARCHAR name neutral: matched, again, series, recovered, new
--   or missing, see matched_compilations.
-- column method VARCHAR name neutral: What is equal, see match_rungs.
-- column confidence DOUBLE score higher_is_better: Confidence of the match,
--   from 0 to 1.
-- column differing_keys VARCHAR name neutral: Differences of the inputs that
--   make the two incomparable.
-- column color INTEGER id neutral: Memory space of the row; NULL for all.
-- column instead_of VARCHAR name neutral: The base that an earlier run
--   replaces.
-- column base_place BIGINT id neutral: Place in its run, see compilations.
-- column candidate_place BIGINT id neutral: The same in the candidate.
-- column base_path VARCHAR name neutral: File of the snapshot in the base.
-- column candidate_path VARCHAR name neutral: The same in the candidate.
-- column base_has_assignment BOOLEAN flag neutral: Whether the base has its
--   buffer assignment.
-- column candidate_has_assignment BOOLEAN flag neutral: Whether the candidate
--   has.
-- column base_graph BIGINT id neutral: graph_fingerprint in the base.
-- column candidate_graph BIGINT id neutral: The same in the candidate.
-- column base_source BIGINT id neutral: exact_fingerprint of its source.
-- column candidate_source BIGINT id neutral: The same in the candidate.
SELECT
  coalesce(m.base, m.instead_of) AS base, m.candidate,
  coalesce(m.candidate_program, m.base_program) AS program, m.rank,
  m.base_module_number, m.candidate_module_number, m.base_rank,
  m.candidate_rank, m.base_run_id, m.candidate_run_id, m.base_module_id,
  m.candidate_module_id, m.base_locations_id, m.candidate_locations_id,
  coalesce(m.differing_keys = '', FALSE) AS is_comparable,
  coalesce(m.base_exact = m.candidate_exact, FALSE) AS is_identical,
  m.platform, m.base_folder, m.candidate_folder, m.base_program,
  m.candidate_program, m.relation, m.method, m.confidence, m.differing_keys,
  m.color AS color, m.instead_of, m.base_place, m.candidate_place, m.base_path,
  m.candidate_path, m.base_has_assignment, m.candidate_has_assignment,
  m.base_graph, m.candidate_graph, m.base_source, m.candidate_source
FROM matched_compilations(
  base := $base, candidate := $candidate, program := $program,
  base_program := $base_program, follow := $follow,
  earlier_ids := $earlier_ids, window_ids := $window_ids,
  base_ids := $base_ids, candidate_ids := $candidate_ids
) AS m
WHERE m.relation IN ('again', 'series', 'recovered', 'missing')
  OR (m.relation = 'new' AND m.candidate_has_assignment)
  OR (
    m.relation = 'matched'
    AND (m.base_has_assignment OR m.candidate_has_assignment)
  )
