-- title: Compile time by pass
-- question: Which compiler passes take long, became slower, or change modules
--   more often?
-- definition: Passes in the modules' metadata files, summed by pipeline and
--   pass over all modules of a run (and program), next to those of the base if
--   one is given. Metadata files name only the number of their module, so
--   ranks are added up; with program, all modules with one of its numbers
--   count. XLA writes these files with --xla_dump_module_metadata: for TPUs in
--   all releases tried (jax 0.7.2, 0.9.2, 0.10.2 and 0.12.0.1) and for GPUs
--   (0.10.2), but in JAX on CPUs in none from 0.4.13 to 0.12.0.1.
-- grain: pipeline, pass
-- empty: the run has no metadata files. Compile for a TPU or a GPU with
--   XLA_FLAGS=--xla_dump_module_metadata; JAX on CPUs writes none.
-- leading: pipeline, pass_name, call_count, changed_count, pass_seconds,
--   time_ratio, delta_seconds
-- param run
-- param base VARCHAR = NULL of runs.name: Run to compare with; NULL for none.
-- param program
-- column run
-- column pipeline VARCHAR name neutral: Pass pipeline.
-- column pass_name VARCHAR name neutral: The pass.
-- column call_count BIGINT count lower_is_better: How often it ran.
-- column changed_count BIGINT count neutral: How often it changed the module.
-- column pass_seconds DOUBLE seconds lower_is_better: Total time.
-- column time_ratio DOUBLE ratio lower_is_better: Share of the time of all
--   passes of the run.
-- column base_call_count BIGINT count neutral: How often it ran in the base.
-- column base_seconds DOUBLE seconds neutral: Total time in the base.
-- column delta_seconds DOUBLE seconds lower_is_better: Candidate minus base.
WITH asked AS (
  SELECT c.run_id, c.run AS run_name, FALSE AS is_base
  FROM selected_run() AS c
  UNION ALL
  SELECT r.run_id, r.name, TRUE FROM runs AS r WHERE r.name = $base
),
wanted AS (
  SELECT DISTINCT a.run_id, a.is_base, m.module_number
  FROM asked AS a
  JOIN modules AS m USING (run_id)
  WHERE $program IS NULL
    OR m.program = $program
),
timed AS (
  SELECT w.is_base, p.pipeline, p.pass_name, p.has_changed, p.duration_us
  FROM wanted AS w
  JOIN passes AS p USING (run_id, module_number)
),
summed AS (
  SELECT
    pipeline, pass_name,
    count(*) FILTER (WHERE NOT is_base) AS call_count,
    count(*) FILTER (WHERE NOT is_base AND has_changed) AS changed_count,
    sum(duration_us) FILTER (WHERE NOT is_base) / 1e6 AS pass_seconds,
    count(*) FILTER (WHERE is_base) AS base_call_count,
    sum(duration_us) FILTER (WHERE is_base) / 1e6 AS base_seconds
  FROM timed
  GROUP BY pipeline, pass_name
)
SELECT
  a.run_name AS run, s.pipeline, s.pass_name, s.call_count, s.changed_count,
  s.pass_seconds,
  s.pass_seconds / nullif(sum(s.pass_seconds) OVER (), 0) AS time_ratio,
  CASE WHEN $base IS NOT NULL THEN s.base_call_count END AS base_call_count,
  s.base_seconds,
  CASE WHEN $base IS NOT NULL
    THEN coalesce(s.pass_seconds, 0) - coalesce(s.base_seconds, 0)
  END AS delta_seconds
FROM summed AS s
CROSS JOIN (SELECT run_name FROM asked WHERE NOT is_base) AS a
ORDER BY s.pass_seconds DESC NULLS LAST, s.pipeline, s.pass_name
