-- Compiler flags of the runs $base and $candidate that differ, as whole runs see them.
-- Where and what to dump moves no memory.
WITH both_runs AS (
  SELECT
    f.run_id = $candidate AS is_candidate, f.name,
    string_agg(DISTINCT f.value, ' | ' ORDER BY f.value) AS value
  FROM compiler_flags AS f
  WHERE f.run_id IN ($base, $candidate)
    AND NOT starts_with(f.name, 'xla_dump_')
  GROUP BY ALL
)
SELECT
  coalesce(b.name, c.name) AS name, b.value AS base_value, c.value AS candidate_value
FROM (SELECT * FROM both_runs WHERE NOT is_candidate) AS b
FULL JOIN (SELECT * FROM both_runs WHERE is_candidate) AS c USING (name)
WHERE b.value IS DISTINCT FROM c.value
ORDER BY ALL
