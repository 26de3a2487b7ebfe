-- title: Modules of two runs, side by side
-- question: Which module of the candidate corresponds to which of the base?
-- definition: Modules with a buffer assignment. Matched by program,
--   program_key (entry shapes and num_partitions) and rank, the n-th by module
--   number with the n-th; then the rest by program and rank alone, which is
--   not comparable; what remains is new or gone.
-- grain: pair of module occurrences
-- needs: chosen_pair, modules
-- param base
-- param candidate
-- param program
-- column base
-- column candidate
-- column program
-- column rank
-- column base_module_number INTEGER id neutral: XLA's number of the module in
--   the base.
-- column candidate_module_number INTEGER id neutral: The same in the
--   candidate.
-- column base_run_id BIGINT id neutral: Number of the base.
-- column candidate_run_id BIGINT id neutral: Number of the candidate.
-- column base_module_id BIGINT id neutral: Content in the base; NULL where
--   new.
-- column candidate_module_id BIGINT id neutral: Content in the candidate; NULL
--   where gone.
-- column base_locations_id BIGINT id neutral: Source locations in the base.
-- column candidate_locations_id BIGINT id neutral: Source locations in the
--   candidate.
-- column is_comparable BOOLEAN flag neutral: Whether program_key is the same.
-- column is_identical BOOLEAN flag neutral: Whether exact_fingerprint is the
--   same.
-- column platform
WITH occurrences AS (
  SELECT
    p.base, p.candidate, m.run_id = p.candidate_run_id AS is_candidate,
    m.run_id, m.module_id, m.locations_id, m.program AS program_name,
    m.program_key, m.rank, m.module_number, m.exact_fingerprint, m.platform,
    row_number() OVER (
      ORDER BY m.run_id, m.module_number, m.path, m.part
    ) AS occurrence,
    row_number() OVER (
      PARTITION BY m.run_id, m.program, m.program_key, m.rank
      ORDER BY m.module_number, m.path, m.part
    ) AS ordinal
  FROM chosen_pair(base := $base, candidate := $candidate) AS p
  JOIN modules AS m ON m.run_id IN (p.base_run_id, p.candidate_run_id)
  WHERE m.has_assignment
    AND ($program IS NULL OR m.program = $program)
),
equal_shapes AS (
  SELECT b.occurrence AS base_occurrence, c.occurrence AS candidate_occurrence
  FROM occurrences AS b
  JOIN occurrences AS c
    ON c.program_name = b.program_name
    AND c.program_key IS NOT DISTINCT FROM b.program_key
    AND c.rank IS NOT DISTINCT FROM b.rank
    AND c.ordinal = b.ordinal
  WHERE NOT b.is_candidate
    AND c.is_candidate
),
unpaired AS (
  SELECT
    o.occurrence, o.is_candidate, o.program_name, o.rank,
    row_number() OVER (
      PARTITION BY o.is_candidate, o.program_name, o.rank ORDER BY o.occurrence
    ) AS ordinal
  FROM occurrences AS o
  WHERE o.occurrence NOT IN (SELECT base_occurrence FROM equal_shapes)
    AND o.occurrence NOT IN (SELECT candidate_occurrence FROM equal_shapes)
),
pairs AS (
  SELECT base_occurrence, candidate_occurrence, TRUE AS is_comparable
  FROM equal_shapes
  UNION ALL
  SELECT b.occurrence, c.occurrence, FALSE
  FROM (SELECT * FROM unpaired WHERE NOT is_candidate) AS b
  FULL JOIN (SELECT * FROM unpaired WHERE is_candidate) AS c
    ON c.program_name = b.program_name
    AND c.rank IS NOT DISTINCT FROM b.rank
    AND c.ordinal = b.ordinal
)
SELECT
  coalesce(b.base, c.base) AS base,
  coalesce(b.candidate, c.candidate) AS candidate,
  coalesce(b.program_name, c.program_name) AS program,
  coalesce(b.rank, c.rank) AS rank,
  b.module_number AS base_module_number,
  c.module_number AS candidate_module_number, b.run_id AS base_run_id,
  c.run_id AS candidate_run_id, b.module_id AS base_module_id,
  c.module_id AS candidate_module_id, b.locations_id AS base_locations_id,
  c.locations_id AS candidate_locations_id, p.is_comparable,
  coalesce(b.exact_fingerprint = c.exact_fingerprint, FALSE) AS is_identical,
  coalesce(b.platform, c.platform) AS platform
FROM pairs AS p
LEFT JOIN occurrences AS b ON b.occurrence = p.base_occurrence
LEFT JOIN occurrences AS c ON c.occurrence = p.candidate_occurrence
