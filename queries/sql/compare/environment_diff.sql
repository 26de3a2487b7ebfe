-- title: Differences of versions, devices and flags
-- question: Which versions, devices and compiler flags differ between two
--   runs?
-- definition: Rows of environment_changes; flags that may move memory first.
-- grain: key
-- leading: key, base_value, candidate_value, is_memory_relevant
-- param base
-- param candidate
-- column base
-- column candidate
-- column key VARCHAR name neutral: Name of the fact; compiler flags and labels
--   have a prefix that says so.
-- column is_flag BOOLEAN flag neutral: Whether it is a compiler flag.
-- column base_value VARCHAR text neutral: Its value in the base; NULL where
--   absent.
-- column candidate_value VARCHAR text neutral: Its value in the candidate.
-- column is_memory_relevant BOOLEAN flag neutral: Whether it is a compiler
--   flag that may move memory.
WITH pair AS MATERIALIZED (
  SELECT
    p.base_run_id, p.base AS base_run, p.candidate_run_id,
    p.candidate AS candidate_run
  FROM selected_pair() AS p
)
SELECT
  p.base_run AS base, p.candidate_run AS candidate, e.key, e.is_flag,
  e.base_value, e.candidate_value, e.is_memory_relevant
FROM environment_changes(
  base_runs := (SELECT list(o.base_run_id) FROM pair AS o),
  candidate_runs := (SELECT list(o.candidate_run_id) FROM pair AS o)
) AS e
CROSS JOIN pair AS p
ORDER BY e.is_memory_relevant DESC, e.key
