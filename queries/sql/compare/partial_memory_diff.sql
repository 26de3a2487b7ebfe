-- title: Known memory of programs without a peak, in two runs
-- question: How do programs that only have HLO, a memory report or an
--   assignment differ between two runs?
-- definition: Rows of partial_memory with the same program and memory space in
--   both runs; of several, the nth by path is compared with the nth.
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
of_base AS MATERIALIZED (
  SELECT
    m.*,
    row_number() OVER (
      PARTITION BY m.program, m.color ORDER BY m.path, m.least_bytes
    ) AS nth
  FROM partial_memory(
    run := (SELECT p.base_run FROM pair AS p), program := NULL
  ) AS m
),
of_candidate AS MATERIALIZED (
  SELECT
    m.*,
    row_number() OVER (
      PARTITION BY m.program, m.color ORDER BY m.path, m.least_bytes
    ) AS nth
  FROM partial_memory(
    run := (SELECT p.candidate_run FROM pair AS p), program := NULL
  ) AS m
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
FROM of_candidate AS c
JOIN of_base AS b
  ON b.program = c.program
  AND b.color IS NOT DISTINCT FROM c.color
  AND b.nth = c.nth
CROSS JOIN pair AS p
ORDER BY
  abs(coalesce(
    c.reserved_bytes - b.reserved_bytes, c.least_bytes - b.least_bytes, 0
  )) DESC,
  c.program, c.color, c.nth
