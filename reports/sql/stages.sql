-- The snapshots of compiled modules in the order of compilation. $runs, $ranks,
-- $programs, $numbers, $first_numbers and $paths lie side by side; $keys numbers them.
WITH wanted AS (
  SELECT
    unnest(from_json($keys, '["BIGINT"]')) AS key,
    unnest(from_json($runs, '["BIGINT"]')) AS run_id,
    unnest(from_json($ranks, '["INTEGER"]')) AS rank,
    unnest(from_json($programs, '["VARCHAR"]')) AS program,
    unnest(from_json($numbers, '["INTEGER"]')) AS module_number,
    unnest(from_json($first_numbers, '["INTEGER"]')) AS first_number,
    unnest(from_json($paths, '["VARCHAR"]')) AS path
),
numbered AS (
  SELECT *, FALSE AS is_first
  FROM wanted
  UNION ALL
  SELECT * REPLACE (first_number AS module_number), TRUE
  FROM wanted
  WHERE first_number IS NOT NULL
)
SELECT
  w.key, m.stage, m.pipeline, m.pass_after, m.pass_before, m.graph_fingerprint,
  m.exact_fingerprint
FROM numbered AS w
JOIN modules AS m
  ON m.run_id = w.run_id
  AND m.program = w.program
  AND m.rank IS NOT DISTINCT FROM w.rank
  AND m.module_number IS NOT DISTINCT FROM w.module_number
  AND m.folder = regexp_replace(w.path, '[^/]*$', '')
WHERE m.stage IN ('before_optimizations', 'after_optimizations', 'pass')
ORDER BY
  w.key, m.stage = 'before_optimizations' DESC, m.stage = 'after_optimizations',
  w.is_first DESC, m.pass_step, m.path, m.part
