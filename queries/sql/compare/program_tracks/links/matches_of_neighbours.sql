-- step: Matches between each run and the next one.
-- grain: match
SELECT
  m.base_run_id, m.base_place, m.candidate_run_id, m.candidate_place,
  m.method, m.confidence
FROM module_ladder(
  base_ids := (
    SELECT list(y.run_id ORDER BY y.run_place)
    FROM ordered_runs AS y
    WHERE y.run_place < (SELECT max(z.run_place) FROM ordered_runs AS z)
  ),
  candidate_ids := (
    SELECT list(y.run_id ORDER BY y.run_place)
    FROM ordered_runs AS y
    WHERE y.run_place > 1
  ),
  assigned_only := TRUE
) AS m
WHERE m.method IS NOT NULL
