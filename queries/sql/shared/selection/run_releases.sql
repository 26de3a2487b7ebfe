-- title: Flags that the compiler of a run knows
-- question: Which compiler flags does the release know that compiled a run?
-- definition: Names in lists of all flags (compile_options, flagfile,
--   tpu_comp_env, module_config), where none is cut off. Runs of one release
--   with lists of the same kinds have the same names.
-- grain: run
-- param run_ids BIGINT[] = NULL from 0: Numbers of the runs.
-- column run_id
-- column list_kinds VARCHAR text neutral: The kinds of its lists.
-- column flag_names VARCHAR text neutral: The names, in order, and spaces.
WITH asked_runs AS MATERIALIZED (
  SELECT unnest($run_ids) AS run_id
),
whole AS MATERIALIZED (
  SELECT
    d.run_id, string_agg(DISTINCT d.kind, ' ' ORDER BY d.kind) AS found_kinds
  FROM dump_files AS d
  JOIN asked_runs USING (run_id)
  LEFT JOIN rejects AS r
    ON r.run_id = d.run_id
    AND r.path = d.path
  WHERE d.kind IN (
    'compile_options', 'flagfile', 'tpu_comp_env', 'module_config'
  )
  GROUP BY d.run_id
  HAVING count(r.path) = 0
)
SELECT
  w.run_id, w.found_kinds AS list_kinds,
  string_agg(DISTINCT f.name, ' ' ORDER BY f.name) AS flag_names
FROM whole AS w
JOIN compiler_flags AS f USING (run_id)
WHERE NOT regexp_matches(f.name, '(^|\.)[0-9]+(\.|$)')
  AND NOT starts_with(f.name, 'xla_dump_')
GROUP BY w.run_id, w.found_kinds
