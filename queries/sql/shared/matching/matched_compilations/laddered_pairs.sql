-- step: Modules of the candidate matched with those of the base, and of each
--   run of the window.
-- grain: run to compare with, match
WITH base_runs AS MATERIALIZED (
  SELECT p.base_run_id AS run_id, p.candidate_run_id, p.pair AS ordinal
  FROM paired_runs AS p
  UNION ALL
  SELECT u.run_id, p.candidate_run_id, u.ordinal + 1
  FROM (
    SELECT
      unnest($window_ids) AS run_id,
      unnest(range(1, len($window_ids) + 1)) AS ordinal
  ) AS u
  JOIN paired_runs AS p ON u.run_id <> p.base_run_id
)
SELECT m.*
FROM module_ladder(
  base_ids := (
    SELECT list(o.run_id ORDER BY o.ordinal) FROM base_runs AS o
  ),
  candidate_ids := (
    SELECT list(o.candidate_run_id ORDER BY o.ordinal) FROM base_runs AS o
  ),
  base_program := $base_program,
  candidate_program := CASE
    WHEN $base_program IS NOT NULL THEN coalesce($program, $base_program)
  END
) AS m
