-- title: What else differs between pairs of runs
-- question: Which versions, devices, labels and compiler flags differ?
-- definition: Facts of runs, labels and compiler flags that are not the same
--   in both runs; several values of a flag are listed. Of flags, where both
--   runs dumped any: one that only one of them has stands at its default in
--   the other, where both list only what is not default (debug_options); where
--   both list all, the other's release does not know it; else it is left out.
--   Where a run's list is cut off, only values that the other run lacks count.
--   Where and what to dump moves no memory. Flags that the dump lists by the
--   number of their field alone are left out: nobody can look them up. A flag
--   that was renamed between the releases counts as one, by its later name. A
--   list of one value for each parameter or result counts as that value.
-- grain: pair of runs, key
-- param base_runs BIGINT[] = NULL from 0: Numbers of the runs to compare with.
-- param candidate_runs BIGINT[] = NULL from 0: Numbers of the runs in
--   question, in the same order.
-- column pair BIGINT id neutral: Position of the pair in the lists.
-- column key VARCHAR name neutral: Name of the fact; of a flag and a label
--   after these words.
-- column is_flag BOOLEAN flag neutral: Whether it is a compiler flag.
-- column base_value VARCHAR text neutral: Its value in the base; NULL where
--   absent.
-- column candidate_value VARCHAR text neutral: Its value in the candidate.
-- column is_memory_relevant BOOLEAN flag neutral: Whether it is a flag that
--   may move memory: its name speaks of memory, and it is neither of another
--   platform nor unknown to one of the releases.
WITH run_pairs AS MATERIALIZED (
  -- Arguments are read inside of macros, where no CTE may have their names.
  SELECT
    unnest(range(1, len($base_runs) + 1)) AS pair,
    unnest($base_runs) AS base_run, unnest($candidate_runs) AS own_run
),
both_runs AS MATERIALIZED (
  SELECT DISTINCT base_run AS run_id FROM run_pairs
  UNION
  SELECT own_run FROM run_pairs
),
facts AS MATERIALIZED (
  SELECT
    r.run_id,
    unnest([
      'compiler_version', 'framework_version', 'platform', 'device',
      'topology', 'commit_sha', 'branch', 'hlodb_version'
    ]) AS key,
    unnest([
      r.compiler_version, r.framework_version, r.platform, r.device,
      r.topology, r.commit_sha, r.branch, r.hlodb_version
    ]) AS value
  FROM runs AS r
  JOIN both_runs USING (run_id)
  UNION ALL
  SELECT r.run_id, 'label ' || l.key, l.value ->> '$'
  FROM runs AS r
  JOIN both_runs USING (run_id),
  LATERAL (SELECT e.key, e.value FROM json_each(r.labels) AS e) AS l
  WHERE json_type(r.labels) = 'OBJECT'
),
spelt AS MATERIALIZED (
  SELECT
    f.run_id, f.name,
    CASE
      WHEN len(list_distinct(l.entries)) = 1 THEN l.entries[1]
      -- One entry per argument or output, whose number may differ.
      WHEN regexp_matches(
          f.name, 'sharding_propagation_to_(output|parameters)$'
        )
        THEN array_to_string(list_sort(list_distinct(l.entries)), ',')
      ELSE f.value
    END AS value
  FROM compiler_flags AS f
  JOIN both_runs USING (run_id),
  LATERAL (SELECT string_split(f.value, ',') AS entries) AS l
  WHERE NOT regexp_matches(f.name, '(^|\.)[0-9]+(\.|$)')
),
flags AS MATERIALIZED (
  -- By their later names, where one of the runs has them.
  SELECT
    f.run_id, coalesce(n.new_name, f.name) AS name,
    string_agg(
      DISTINCT coalesce(n.new_value, f.value), ' | '
      ORDER BY coalesce(n.new_value, f.value)
    ) AS value,
    list(DISTINCT coalesce(n.new_value, f.value)) AS all_values
  FROM spelt AS f
  LEFT JOIN flag_names() AS n
    ON n.old_name = f.name
    AND coalesce(n.old_value, f.value) = f.value
    AND n.new_name IN (SELECT s.name FROM spelt AS s)
  GROUP BY ALL
),
flagged AS (
  SELECT DISTINCT f.run_id FROM flags AS f
),
whole_lists AS (
  SELECT DISTINCT d.run_id
  FROM dump_files AS d
  JOIN both_runs USING (run_id)
  WHERE d.kind IN (
    'compile_options', 'flagfile', 'tpu_comp_env', 'module_config'
  )
),
cut_lists AS (
  SELECT DISTINCT d.run_id
  FROM dump_files AS d
  JOIN both_runs USING (run_id)
  SEMI JOIN rejects AS r
    ON r.run_id = d.run_id
    AND r.path = d.path
  WHERE d.kind IN (
    'compile_options', 'debug_options', 'flagfile', 'tpu_comp_env',
    'module_config'
  )
),
known AS MATERIALIZED (
  SELECT
    p.pair, p.base_run, p.own_run,
    CAST(b.run_id IS NOT NULL AS INTEGER)
    + CAST(c.run_id IS NOT NULL AS INTEGER) AS whole_sides,
    x.run_id IS NOT NULL AND y.run_id IS NOT NULL AS has_flags,
    t.run_id IS NOT NULL AS is_base_cut, u.run_id IS NOT NULL AS is_own_cut
  FROM run_pairs AS p
  LEFT JOIN whole_lists AS b ON b.run_id = p.base_run
  LEFT JOIN whole_lists AS c ON c.run_id = p.own_run
  LEFT JOIN flagged AS x ON x.run_id = p.base_run
  LEFT JOIN flagged AS y ON y.run_id = p.own_run
  LEFT JOIN cut_lists AS t ON t.run_id = p.base_run
  LEFT JOIN cut_lists AS u ON u.run_id = p.own_run
),
named AS (
  SELECT k.pair, k.base_run, k.own_run, FALSE AS is_flag, f.key
  FROM known AS k
  JOIN facts AS f ON f.run_id IN (k.base_run, k.own_run)
  UNION
  SELECT k.pair, k.base_run, k.own_run, TRUE, f.name
  FROM known AS k
  JOIN flags AS f ON f.run_id IN (k.base_run, k.own_run)
  WHERE k.has_flags
    AND NOT starts_with(f.name, 'xla_dump_')
),
sides AS (
  SELECT
    n.pair, n.is_flag, n.key, k.whole_sides,
    CASE WHEN n.is_flag THEN x.value ELSE b.value END AS base_value,
    CASE WHEN n.is_flag THEN y.value ELSE c.value END AS own_value,
    o.compiler_version IS NOT DISTINCT FROM r.compiler_version
      AS is_same_release,
    r.platform, (
      k.is_base_cut
      AND list_has_all(coalesce(y.all_values, []), coalesce(x.all_values, []))
    ) OR (
      k.is_own_cut
      AND list_has_all(coalesce(x.all_values, []), coalesce(y.all_values, []))
    ) AS is_cut
  FROM named AS n
  JOIN known AS k USING (pair)
  JOIN runs AS o ON o.run_id = n.base_run
  JOIN runs AS r ON r.run_id = n.own_run
  LEFT JOIN facts AS b
    ON b.run_id = n.base_run
    AND b.key = n.key
  LEFT JOIN facts AS c
    ON c.run_id = n.own_run
    AND c.key = n.key
  LEFT JOIN flags AS x
    ON x.run_id = n.base_run
    AND x.name = n.key
  LEFT JOIN flags AS y
    ON y.run_id = n.own_run
    AND y.name = n.key
)
SELECT
  s.pair, CASE WHEN s.is_flag THEN 'flag ' || s.key ELSE s.key END AS key,
  s.is_flag, s.base_value, s.own_value AS candidate_value,
  s.is_flag
  AND (
    (s.base_value IS NOT NULL AND s.own_value IS NOT NULL)
    OR (s.whole_sides = 0 AND s.is_same_release)
  )
  -- How flags begin that only one platform heeds.
  AND NOT coalesce(
    s.platform IN ('cpu', 'gpu', 'rocm', 'tpu')
    AND regexp_matches(s.key, '^xla_(cpu|gpu|tpu|jf|sc)_')
    AND NOT regexp_matches(s.key, CASE s.platform
      WHEN 'cpu' THEN '^xla_cpu_'
      WHEN 'tpu' THEN '^xla_(tpu|jf|sc)_'
      ELSE '^xla_gpu_'
    END), FALSE
  )
  AND regexp_matches(
    s.key,
    'alias|alloc|collective|combine|donat|fus|hbm|hlo_passes|layout|limit'
      || '|memory|offload|optimization_level|partition|remat|schedul|shard'
      || '|spmd|vmem'
  ) AS is_memory_relevant
FROM sides AS s
WHERE s.base_value IS DISTINCT FROM s.own_value
  AND (
    NOT s.is_flag
    OR NOT s.is_cut
    AND (
      s.whole_sides <> 1
      OR (s.base_value IS NOT NULL AND s.own_value IS NOT NULL)
    )
  )
