-- step: Compiled modules of these runs.
-- grain: run, module
SELECT c.*
FROM compilations(
  run_ids := coalesce(
    (
      SELECT list_distinct(list(base_run_id) || list(candidate_run_id))
      FROM asked_runs
    ),
    CAST([] AS BIGINT[])
  )
) AS c
WHERE c.has_assignment
  OR NOT $assigned_only
