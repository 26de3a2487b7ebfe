-- title: The verdict on every module of two runs
-- question: Does a module need more memory than in the base, in which memory
--   space, and which rule says so?
-- definition: Rows of matched_modules for each memory space that either module
--   uses, with the verdict of judged_pairs. Different devices make modules
--   incomparable, too. A module that was missing in the base, and needs no
--   more memory than when last seen, is recovered. Noise bands come from the
--   base and the runs before the candidate: earlier_ids, or else the latest 90
--   sound runs that base_choice follows, if no base is named.
-- grain: pair of modules, memory space
-- param base
-- param candidate
-- param program VARCHAR = NULL of modules.program: Only pairs with this
--   program on at least one side; NULL for all.
-- param base_program VARCHAR = NULL of modules.program: Only this program of
--   the base; together with program, the pair of these two, whatever their
--   names.
-- param min_delta_bytes
-- param min_delta_ratio
-- param managed_ratio
-- param limit_devices
-- param limit_spaces
-- param limit_bytes
-- param follow
-- param earlier_ids
-- param window_ids
-- column base
-- column candidate
-- column program
-- column base_program VARCHAR name neutral: Name of the program in the base,
--   if different.
-- column module_number INTEGER id neutral: XLA's number of the module in the
--   candidate, else in the base.
-- column rank
-- column path VARCHAR name neutral: File in the candidate, or else in the
--   base.
-- column color INTEGER id neutral: Memory space number; NULL, with all memory
--   columns, if neither module uses any.
-- column space_name
-- column verdict VARCHAR name neutral: worse, mixed, improved, same, changed,
--   new, failed, recovered or not_comparable.
-- column rule VARCHAR name neutral: Rule that decided the verdict, see
--   judged_pairs.
-- column base_reserved_bytes BIGINT bytes lower_is_better: Reserved bytes in
--   the base.
-- column candidate_reserved_bytes BIGINT bytes lower_is_better: Reserved bytes
--   in the candidate.
-- column delta_reserved_bytes BIGINT bytes lower_is_better: The difference.
-- column base_live_peak_bytes BIGINT bytes lower_is_better: Live peak of the
--   base.
-- column candidate_live_peak_bytes BIGINT bytes lower_is_better: Live peak of
--   the candidate.
-- column delta_live_peak_bytes BIGINT bytes lower_is_better: The difference.
-- column noise_band_bytes BIGINT bytes neutral: Largest difference between
--   duplicate compilations.
-- column method VARCHAR name neutral: How the two were matched, see
--   match_rungs.
-- column confidence DOUBLE score higher_is_better: Confidence of the match,
--   from 0 to 1.
-- column differing_keys VARCHAR name neutral: Differences of the inputs that
--   make the two incomparable.
-- column tags VARCHAR name neutral: recovered: it is back and needs more;
--   packing-only: the programs are identical; schedule-only: their graphs are.
-- column relation VARCHAR name neutral: How the base was found, see
--   matched_compilations.
-- column instead_of VARCHAR name neutral: The base that an earlier run
--   replaces.
-- column base_folder VARCHAR name neutral: Folder of its file in the base.
-- column candidate_folder VARCHAR name neutral: The same in the candidate.
-- column base_run_id BIGINT id neutral: run_id of the base.
-- column candidate_run_id BIGINT id neutral: run_id of the candidate.
-- column base_place BIGINT id neutral: Place in its run, see compilations.
-- column candidate_place BIGINT id neutral: The same in the candidate.
-- column base_module_id BIGINT id neutral: Content in the base.
-- column candidate_module_id BIGINT id neutral: Content in the candidate.
WITH matched AS MATERIALIZED (
  SELECT row_number() OVER () AS pair_number, m.*
  FROM matched_modules() AS m
),
candidates AS (
  SELECT DISTINCT m.candidate FROM matched AS m
),
-- Soundness is asked only of runs that compiled something twice.
noisy AS MATERIALIZED (
  SELECT DISTINCT n.run_id
  FROM noise_bands(run_ids := (
    SELECT coalesce(list(e.run_id ORDER BY e.place), [])
    FROM earlier_runs(candidate := (SELECT c.candidate FROM candidates AS c))
      AS e
    WHERE e.is_followed
      AND e.place <= 90
      AND $earlier_ids IS NULL
      AND $base IS NULL
  )) AS n
  WHERE n.width_bytes > 0
),
judged AS (
  SELECT p.*
  FROM judged_pairs(
    base_runs := (
      SELECT list(m.base_run_id ORDER BY m.pair_number) FROM matched AS m
    ),
    base_places := (
      SELECT list(m.base_place ORDER BY m.pair_number) FROM matched AS m
    ),
    candidate_runs := (
      SELECT list(m.candidate_run_id ORDER BY m.pair_number) FROM matched AS m
    ),
    candidate_places := (
      SELECT list(m.candidate_place ORDER BY m.pair_number) FROM matched AS m
    ),
    earlier_ids := coalesce($earlier_ids, (
      SELECT coalesce(list(y.run_id), [])
      FROM noisy AS y
      WHERE y.run_id NOT IN (
        SELECT u.run_id
        FROM unsound_runs(run_ids := (
          SELECT coalesce(list(z.run_id), []) FROM noisy AS z
        )) AS u
      )
    ))
  ) AS p
),
ruled AS (
  SELECT
    m.*, j.color AS space_color, j.space_name,
    j.verdict, j.rule, j.base_reserved_bytes, j.candidate_reserved_bytes,
    j.delta_reserved_bytes, j.base_live_peak_bytes,
    j.candidate_live_peak_bytes, j.delta_live_peak_bytes, j.noise_band_bytes,
    j.tags AS pair_tags,
    j.base_reserved_bytes IS NOT NULL
    AND j.candidate_reserved_bytes IS NOT NULL
    AND regexp_matches(m.differing_keys, 'platform|device') AS is_incomparable
  FROM matched AS m
  -- A module may use no memory at all.
  LEFT JOIN judged AS j
    ON j.pair = m.pair_number
    AND j.color = coalesce(m.color, j.color)
)
SELECT
  r.base, r.candidate, r.program,
  CASE WHEN r.base_program <> r.candidate_program THEN r.base_program END
    AS base_program,
  coalesce(r.candidate_module_number, r.base_module_number) AS module_number,
  r.rank, coalesce(r.candidate_path, r.base_path) AS path,
  r.space_color AS color, r.space_name,
  CASE
    WHEN r.is_incomparable THEN 'not_comparable'
    WHEN r.relation = 'recovered' AND r.verdict IN ('same', 'improved')
      THEN 'recovered'
    ELSE r.verdict
  END AS verdict,
  CASE WHEN r.is_incomparable THEN 'differing_keys' ELSE r.rule END AS rule,
  r.base_reserved_bytes, r.candidate_reserved_bytes, r.delta_reserved_bytes,
  r.base_live_peak_bytes, r.candidate_live_peak_bytes,
  r.delta_live_peak_bytes, r.noise_band_bytes, r.method, r.confidence,
  r.differing_keys,
  CASE
    WHEN r.relation = 'recovered' AND r.verdict NOT IN ('same', 'improved')
      AND r.rule <> 'no_buffer_assignment'
      THEN concat_ws(', ', 'recovered', r.pair_tags)
    ELSE r.pair_tags
  END AS tags,
  r.relation, r.instead_of, r.base_folder, r.candidate_folder, r.base_run_id,
  r.candidate_run_id, r.base_place, r.candidate_place, r.base_module_id,
  r.candidate_module_id
FROM ruled AS r
