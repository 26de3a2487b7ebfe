-- title: Modules of two runs, side by side
-- question: Which module of the candidate corresponds to which of the base?
-- definition: Modules with a buffer assignment. Matched by program,
--   program_key (entry shapes and num_partitions), rank and
--   exact_fingerprint, the n-th by module number with the n-th; then the rest
--   without the fingerprint; then by program, rank and the element types and
--   ranks of entry arrays, whatever their sizes; then by program and rank
--   alone where each run has one left, as programs of PyTorch/XLA share a
--   name. Of these two the shapes differ, which is not comparable; what
--   remains is new or gone. A run without ranks and one of a single rank are
--   of one host.
-- grain: pair of module occurrences
-- needs: chosen_pair, lone_rank, modules
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
-- column base_rank INTEGER id neutral: Rank in the base; NULL where its files
--   name none.
-- column candidate_rank INTEGER id neutral: The same in the candidate.
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
-- column base_folder VARCHAR name neutral: Folder of its file in the base.
-- column candidate_folder VARCHAR name neutral: The same in the candidate.
WITH the_pair AS MATERIALIZED (
  -- Arguments are read inside of macros, where no CTE may have this name.
  SELECT * FROM chosen_pair(base := $base, candidate := $candidate)
),
host AS MATERIALIZED (
  SELECT *
  FROM lone_rank(
    base := (SELECT c.base FROM the_pair AS c),
    candidate := (SELECT c.candidate FROM the_pair AS c)
  )
),
occurrences AS (
  SELECT
    p.base, p.candidate, m.run_id = p.candidate_run_id AS is_candidate,
    m.run_id, m.module_id, m.locations_id, m.program AS program_name,
    m.program_key, coalesce(m.rank, h.lone_rank) AS rank, m.rank AS own_rank,
    m.module_number, m.exact_fingerprint, m.platform, m.folder,
    row_number() OVER (
      ORDER BY m.run_id, m.module_number, m.path, m.part
    ) AS occurrence,
    regexp_replace(
      regexp_replace(m.entry_layout, '\{[^}]*\}|/\*.*?\*/|\s', '', 'g'),
      '([\[,])[0-9<=?]+', '\1n', 'g'
    ) AS arrays,
    row_number() OVER (
      PARTITION BY
        m.run_id, m.program, m.program_key, m.rank, m.exact_fingerprint
      ORDER BY m.module_number, m.path, m.part
    ) AS ordinal
  FROM the_pair AS p
  CROSS JOIN host AS h
  JOIN modules AS m ON m.run_id IN (p.base_run_id, p.candidate_run_id)
  WHERE m.has_assignment
    AND ($program IS NULL OR m.program = $program)
),
equal_content AS (
  SELECT b.occurrence AS base_occurrence, c.occurrence AS candidate_occurrence
  FROM occurrences AS b
  JOIN occurrences AS c
    ON c.program_name = b.program_name
    AND c.program_key IS NOT DISTINCT FROM b.program_key
    AND c.rank IS NOT DISTINCT FROM b.rank
    AND c.exact_fingerprint = b.exact_fingerprint
    AND c.ordinal = b.ordinal
  WHERE NOT b.is_candidate
    AND c.is_candidate
),
other_content AS (
  SELECT
    o.* EXCLUDE (ordinal),
    row_number() OVER (
      PARTITION BY o.is_candidate, o.program_name, o.program_key, o.rank
      ORDER BY o.occurrence
    ) AS ordinal
  FROM occurrences AS o
  WHERE o.occurrence NOT IN (SELECT base_occurrence FROM equal_content)
    AND o.occurrence NOT IN (SELECT candidate_occurrence FROM equal_content)
),
equal_shapes AS (
  SELECT b.occurrence AS base_occurrence, c.occurrence AS candidate_occurrence
  FROM other_content AS b
  JOIN other_content AS c
    ON c.program_name = b.program_name
    AND c.program_key IS NOT DISTINCT FROM b.program_key
    AND c.rank IS NOT DISTINCT FROM b.rank
    AND c.ordinal = b.ordinal
  WHERE NOT b.is_candidate
    AND c.is_candidate
),
other_shapes AS (
  SELECT
    o.* EXCLUDE (ordinal),
    row_number() OVER (
      PARTITION BY o.is_candidate, o.program_name, o.rank, o.arrays
      ORDER BY o.occurrence
    ) AS ordinal
  FROM other_content AS o
  WHERE o.occurrence NOT IN (SELECT base_occurrence FROM equal_shapes)
    AND o.occurrence NOT IN (SELECT candidate_occurrence FROM equal_shapes)
),
equal_arrays AS (
  SELECT b.occurrence AS base_occurrence, c.occurrence AS candidate_occurrence
  FROM other_shapes AS b
  JOIN other_shapes AS c
    ON c.program_name = b.program_name
    AND c.rank IS NOT DISTINCT FROM b.rank
    AND c.arrays = b.arrays
    AND c.ordinal = b.ordinal
  WHERE NOT b.is_candidate
    AND c.is_candidate
),
unpaired AS (
  SELECT
    o.occurrence, o.is_candidate, o.rank,
    CASE
      WHEN count(*) OVER (
        PARTITION BY o.is_candidate, o.program_name, o.rank
      ) = 1
        THEN o.program_name
    END AS own_name
  FROM other_shapes AS o
  WHERE o.occurrence NOT IN (SELECT base_occurrence FROM equal_arrays)
    AND o.occurrence NOT IN (SELECT candidate_occurrence FROM equal_arrays)
),
pairs AS (
  SELECT base_occurrence, candidate_occurrence, TRUE AS is_comparable
  FROM equal_content
  UNION ALL
  SELECT base_occurrence, candidate_occurrence, TRUE
  FROM equal_shapes
  UNION ALL
  SELECT base_occurrence, candidate_occurrence, FALSE
  FROM equal_arrays
  UNION ALL
  SELECT b.occurrence, c.occurrence, FALSE
  FROM (SELECT * FROM unpaired WHERE NOT is_candidate) AS b
  FULL JOIN (SELECT * FROM unpaired WHERE is_candidate) AS c
    ON c.own_name = b.own_name
    AND c.rank IS NOT DISTINCT FROM b.rank
)
SELECT
  coalesce(b.base, c.base) AS base,
  coalesce(b.candidate, c.candidate) AS candidate,
  coalesce(b.program_name, c.program_name) AS program,
  coalesce(b.rank, c.rank) AS rank,
  b.module_number AS base_module_number,
  c.module_number AS candidate_module_number, b.own_rank AS base_rank,
  c.own_rank AS candidate_rank, b.run_id AS base_run_id,
  c.run_id AS candidate_run_id, b.module_id AS base_module_id,
  c.module_id AS candidate_module_id, b.locations_id AS base_locations_id,
  c.locations_id AS candidate_locations_id, p.is_comparable,
  coalesce(b.exact_fingerprint = c.exact_fingerprint, FALSE) AS is_identical,
  coalesce(b.platform, c.platform) AS platform, b.folder AS base_folder,
  c.folder AS candidate_folder
FROM pairs AS p
LEFT JOIN occurrences AS b ON b.occurrence = p.base_occurrence
LEFT JOIN occurrences AS c ON c.occurrence = p.candidate_occurrence
