-- step: Their compiled modules.
-- grain: run, module
SELECT c.*, l.run_place
FROM compilations(
  run_ids := (SELECT coalesce(list(y.run_id), []) FROM ordered_runs AS y),
  words_of := (SELECT arg_max(y.run_id, y.run_place) FROM ordered_runs AS y)
) AS c
JOIN ordered_runs AS l USING (run_id)
WHERE c.has_assignment
