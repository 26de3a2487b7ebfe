-- Compiler flags of the runs $base and $candidate that differ, as whole runs see them,
-- where both dumped any. Where and what to dump moves no memory.
-- One that only one of them has stands at its default in the other, where both list
-- only what isn't default (debug_options); where both list all, the other's release
-- doesn't know it; else it is left out.
WITH both_runs AS (
  SELECT
    f.run_id = $candidate AS is_candidate, f.name,
    string_agg(DISTINCT f.value, ' | ' ORDER BY f.value) AS value
  FROM compiler_flags AS f
  WHERE f.run_id IN ($base, $candidate)
  GROUP BY ALL
),
whole_lists AS (
  SELECT DISTINCT d.run_id
  FROM dump_files AS d
  WHERE d.run_id IN ($base, $candidate)
    AND d.kind IN ('flagfile', 'tpu_comp_env', 'module_config')
),
listed AS (
  SELECT
    count(DISTINCT b.is_candidate) AS sides,
    (SELECT count(*) FROM whole_lists) AS whole_sides
  FROM both_runs AS b
)
SELECT
  coalesce(b.name, c.name) AS name, b.value AS base_value, c.value AS candidate_value,
  l.whole_sides = 0 AS is_default_where_absent
FROM (SELECT * FROM both_runs WHERE NOT is_candidate) AS b
FULL JOIN (SELECT * FROM both_runs WHERE is_candidate) AS c USING (name)
CROSS JOIN listed AS l
WHERE b.value IS DISTINCT FROM c.value
  AND NOT starts_with(coalesce(b.name, c.name), 'xla_dump_')
  AND l.sides = 2
  AND (
    l.whole_sides <> 1
    OR (b.name IS NOT NULL AND c.name IS NOT NULL)
  )
ORDER BY ALL
