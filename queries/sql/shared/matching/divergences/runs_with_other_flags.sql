-- step: Pairs of runs whose compiler flags or environment differ in what may
--   move memory.
-- grain: pair of runs
-- materialised: no
WITH run_pairs AS MATERIALIZED (
  SELECT DISTINCT base_run, candidate_run FROM asked_pairs
)
SELECT DISTINCT r.base_run, r.candidate_run
FROM (
  SELECT
    o.*, row_number() OVER (ORDER BY o.base_run, o.candidate_run) AS pair
  FROM run_pairs AS o
) AS r
JOIN environment_changes(
  base_runs := (
    SELECT list(o.base_run ORDER BY o.base_run, o.candidate_run)
    FROM run_pairs AS o
  ),
  candidate_runs := (
    SELECT list(o.candidate_run ORDER BY o.base_run, o.candidate_run)
    FROM run_pairs AS o
  )
) AS e USING (pair)
WHERE e.is_memory_relevant
