-- title: What else changed
-- question: Which versions, devices and compiler flags differ between two
--   runs?
-- definition: Facts of runs and labels, and compiler flags of the whole run or
--   of equal module numbers' programs, that are not the same in both. A flag
--   counts once per distinct value; several values are listed.
--   memory_relevant: the name speaks of memory, remat, fusion, scheduling,
--   sharding, layout, aliases, collectives, limits, passes or how much to
--   optimise, or it is the compiler, framework or device.
-- grain: key
-- leading: key, base_value, candidate_value, memory_relevant
-- param base
-- param candidate
-- column base
-- column candidate
-- column key VARCHAR name neutral: Name of the fact or flag.
-- column is_flag BOOLEAN flag neutral: Whether it is a compiler flag.
-- column base_value VARCHAR text neutral: Its value in the base; NULL where
--   absent.
-- column candidate_value VARCHAR text neutral: Its value in the candidate.
-- column memory_relevant BOOLEAN flag neutral: Whether it is known to affect
--   memory.
WITH pair AS (
  SELECT p.base_run_id, p.base AS base_run, p.candidate_run_id,
    p.candidate AS candidate_run
  FROM selected_pair() AS p
),
facts AS (
  SELECT
    r.run_id, FALSE AS is_flag,
    unnest([
      'compiler_version', 'framework_version', 'platform', 'device',
      'topology',
      'branch', 'commit_sha', 'labels', 'hlodb_version'
    ]) AS key,
    unnest([
      r.compiler_version, r.framework_version, r.platform, r.device,
      r.topology,
      r.branch, r.commit_sha, CAST(r.labels AS VARCHAR), r.hlodb_version
    ]) AS value
  FROM runs AS r
  JOIN pair AS p ON r.run_id IN (p.base_run_id, p.candidate_run_id)
  UNION ALL
  SELECT f.run_id, TRUE, f.name,
    string_agg(DISTINCT f.value, ', ' ORDER BY f.value)
  FROM compiler_flags AS f
  JOIN pair AS p ON f.run_id IN (p.base_run_id, p.candidate_run_id)
  GROUP BY f.run_id, f.name
),
sides AS (
  SELECT
    p.base_run, p.candidate_run, f.key, f.is_flag,
    max(f.value) FILTER (WHERE f.run_id = p.base_run_id) AS base_value,
    max(f.value) FILTER (WHERE f.run_id = p.candidate_run_id)
      AS candidate_value
  FROM facts AS f
  CROSS JOIN pair AS p
  GROUP BY p.base_run, p.candidate_run, f.key, f.is_flag
)
SELECT
  s.base_run AS base, s.candidate_run AS candidate, s.key, s.is_flag,
  s.base_value, s.candidate_value,
  regexp_matches(
    s.key,
    'alias|alloc|collective|combine|donat|fus|hbm|hlo_passes|layout|limit'
      || '|memory|offload|optimization_level|partition|remat|schedul|shard'
      || '|spmd|vmem|compiler_version|framework_version|platform|device'
  ) AS memory_relevant
FROM sides AS s
WHERE s.base_value IS DISTINCT FROM s.candidate_value
ORDER BY memory_relevant DESC, s.is_flag, s.key
