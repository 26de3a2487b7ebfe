-- Which of the runs $runs hold a module that another, or the same, has under one of
-- $names: run, path, program and module_number, as self_consistency gives them.
WITH named AS (
  SELECT unnest(
    from_json(
      $names,
      '[{"run": "VARCHAR", "path": "VARCHAR", "program": "VARCHAR",'
      || ' "module_number": "BIGINT"}]'
    ),
    recursive := TRUE
  )
)
SELECT DISTINCT held.run_id
FROM named AS n
JOIN runs AS r ON r.name = n.run
JOIN modules AS m
  ON m.run_id = r.run_id
    AND m.path = n.path
    AND m.program = n.program
    AND m.module_number IS NOT DISTINCT FROM n.module_number
JOIN modules AS held USING (module_id)
WHERE held.run_id IN (SELECT unnest(from_json($runs, '["BIGINT"]')))
ORDER BY held.run_id
