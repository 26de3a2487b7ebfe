-- title: Known memory of programs without a peak, in two runs
-- question: How do programs that only have HLO, a memory report or an
--   assignment differ between two runs?
-- definition: Rows of partial_memory with the same program and memory space in
--   both runs; of several, such as those of lambdas, those with as many bytes
--   of arguments and results, then the others, the nth by path with the nth.
-- grain: program, memory space, nth
-- leading: program, space_name, delta_least_bytes, delta_reserved_bytes,
--   base_least_bytes, candidate_least_bytes
-- param base
-- param candidate
-- column base
-- column candidate
-- column program
-- column space_name
-- column base_least_bytes BIGINT bytes lower_is_better: Lower bound of the
--   peak in the base.
-- column candidate_least_bytes BIGINT bytes lower_is_better: Lower bound in
--   the candidate.
-- column delta_least_bytes BIGINT bytes lower_is_better: The difference.
-- column delta_argument_bytes BIGINT bytes lower_is_better: Difference of
--   arguments.
-- column delta_result_bytes BIGINT bytes lower_is_better: Of results.
-- column delta_largest_bytes BIGINT bytes lower_is_better: Of the largest
--   array of one instruction.
-- column base_reserved_bytes BIGINT bytes lower_is_better: Reserved in the
--   base.
-- column candidate_reserved_bytes BIGINT bytes lower_is_better: Reserved in
--   the candidate.
-- column delta_reserved_bytes BIGINT bytes lower_is_better: The difference.
WITH pair AS MATERIALIZED (
  SELECT p.base AS base_run, p.candidate AS candidate_run
  FROM selected_pair() AS p
),
known AS MATERIALIZED (
  SELECT FALSE AS is_candidate, m.*
  FROM partial_memory(
    run := (SELECT p.base_run FROM pair AS p), program := NULL
  ) AS m
  UNION ALL
  SELECT TRUE, m.*
  FROM partial_memory(
    run := (SELECT p.candidate_run FROM pair AS p), program := NULL
  ) AS m
),
keyed AS (
  SELECT
    k.*,
    -- Unrelated programs may share a name, seldom their arguments too.
    CASE
      WHEN min(k.is_candidate) OVER same_arrays
        < max(k.is_candidate) OVER same_arrays
        THEN hash(k.argument_bytes, k.result_bytes)
    END AS shared_key
  FROM known AS k
  WINDOW same_arrays AS (
    PARTITION BY k.program, k.color, k.argument_bytes, k.result_bytes
  )
),
numbered AS MATERIALIZED (
  SELECT
    k.*,
    row_number() OVER (
      PARTITION BY k.is_candidate, k.program, k.color, k.shared_key
      ORDER BY k.path, k.least_bytes
    ) AS nth
  FROM keyed AS k
)
SELECT
  p.base_run AS base, p.candidate_run AS candidate, c.program, c.space_name,
  b.least_bytes AS base_least_bytes, c.least_bytes AS candidate_least_bytes,
  c.least_bytes - b.least_bytes AS delta_least_bytes,
  c.argument_bytes - b.argument_bytes AS delta_argument_bytes,
  c.result_bytes - b.result_bytes AS delta_result_bytes,
  c.largest_bytes - b.largest_bytes AS delta_largest_bytes,
  b.reserved_bytes AS base_reserved_bytes,
  c.reserved_bytes AS candidate_reserved_bytes,
  c.reserved_bytes - b.reserved_bytes AS delta_reserved_bytes
FROM numbered AS c
JOIN numbered AS b
  ON b.program = c.program
  AND b.shared_key IS NOT DISTINCT FROM c.shared_key
  AND b.color IS NOT DISTINCT FROM c.color
  AND b.nth = c.nth
CROSS JOIN pair AS p
WHERE c.is_candidate
  AND NOT b.is_candidate
ORDER BY
  abs(coalesce(
    c.reserved_bytes - b.reserved_bytes, c.least_bytes - b.least_bytes, 0
  )) DESC,
  c.program, c.color, c.shared_key, c.nth
