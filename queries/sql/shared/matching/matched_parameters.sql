-- title: Entry parameters of two modules, side by side
-- question: Which argument of a program is which of the other run's?
-- definition: paired_parameters of modules matched by matched_modules.
-- grain: pair of modules, parameter
-- param base
-- param candidate
-- param program
-- column base_module_id BIGINT id neutral: Content of the module in the base.
-- column candidate_module_id BIGINT id neutral: Content of the module in the
--   candidate.
-- column base_number INTEGER id neutral: The entry parameter in the base.
-- column candidate_number INTEGER id neutral: The same in the candidate.
-- column base_instruction VARCHAR name neutral: Its instruction in the base.
-- column instruction VARCHAR name neutral: The same in the candidate.
WITH the_pair AS MATERIALIZED (
  -- Arguments are read inside of macros, where no CTE may have this name.
  SELECT * FROM selected_pair(base := $base, candidate := $candidate)
),
pairs AS MATERIALIZED (
  SELECT
    m.base_module_id, m.candidate_module_id, row_number() OVER () AS pair
  FROM matched_modules(
    base := coalesce($base, (SELECT p.base FROM the_pair AS p)),
    candidate := coalesce($candidate, (SELECT p.candidate FROM the_pair AS p)),
    program := $program
  ) AS m
)
SELECT *
FROM paired_parameters(
  base_ids := (
    SELECT list(o.base_module_id ORDER BY o.pair) FROM pairs AS o
  ),
  candidate_ids := (
    SELECT list(o.candidate_module_id ORDER BY o.pair) FROM pairs AS o
  )
)
