-- title: Nondeterministic compilation
-- question: Does the same input compile to different programs or different
--   memory?
-- definition: Modules with a before_optimizations snapshot, grouped by its
--   exact_fingerprint, program, compiler version, platform, device and the
--   compiler flags of the run. If the version is unknown, each run is a group
--   of its own, as another run may have another compiler. variant_count is the
--   number of different programs (exact_fingerprint) that came out. Groups of
--   fewer than min_compiles modules are left out.
-- grain: input, memory space
-- leading: program, color, compile_count, variant_count, min_reserved_bytes,
--   max_reserved_bytes, band_ratio, example_run
-- param program
-- param min_compiles BIGINT = 2 from 0: Least number of compilations of one
--   input.
-- param only_variants BOOLEAN = false: Only inputs with more than one result.
-- param only_runs VARCHAR[] = NULL of runs.name: Names of the runs to look at;
--   NULL for all.
-- column program
-- column color
-- column compile_count BIGINT count neutral: Compilations of the same input.
-- column run_count BIGINT count neutral: Runs with these compilations.
-- column variant_count BIGINT count lower_is_better: Distinct results.
-- column min_reserved_bytes BIGINT bytes lower_is_better: Least reserved
--   bytes.
-- column max_reserved_bytes BIGINT bytes lower_is_better: Most reserved bytes.
-- column band_ratio DOUBLE ratio lower_is_better: Their difference as a share
--   of the least.
-- column example_run VARCHAR name neutral: A run with the most reserved bytes.
WITH flags AS (
  SELECT run_id, string_agg(DISTINCT f.name || '=' || f.value, ' '
    ORDER BY f.name || '=' || f.value) AS flag_text
  FROM compiler_flags AS f
  WHERE f.module_number IS NULL
  GROUP BY run_id
),
environments AS (
  -- A number for equal texts: they are long, and modules are many.
  SELECT
    r.run_id, r.name AS run_name, r.platform AS run_platform,
    dense_rank() OVER (
      ORDER BY
        r.compiler_version,
        CASE WHEN r.compiler_version IS NULL THEN r.run_id END,
        r.device, coalesce(f.flag_text, '')
    ) AS environment
  FROM runs AS r
  LEFT JOIN flags AS f USING (run_id)
  WHERE $only_runs IS NULL OR list_contains($only_runs, r.name)
),
compiled AS (
  SELECT
    b.program AS program_name, b.exact_fingerprint AS input, r.run_id,
    r.run_name, r.environment,
    coalesce(a.platform, r.run_platform) AS platform,
    a.exact_fingerprint AS output, p.color AS space_color, p.reserved_bytes
  FROM compiled_sources() AS b
  JOIN modules AS a
    ON a.run_id = b.run_id
    AND a.module_number = b.module_number
    AND a.folder = b.folder
    AND a.rank IS NOT DISTINCT FROM b.rank
    AND a.program = b.program
  JOIN environments AS r ON r.run_id = b.run_id
  JOIN memory_profile AS p ON p.module_id = a.module_id
  WHERE a.has_assignment
),
grouped AS (
  SELECT
    program_name, space_color, input, count(*) AS compile_count,
    count(DISTINCT run_id) AS run_count,
    count(DISTINCT output) AS variant_count,
    min(reserved_bytes) AS min_bytes, max(reserved_bytes) AS max_bytes,
    arg_max(run_name, (reserved_bytes, run_id)) AS example_run
  FROM compiled
  GROUP BY program_name, space_color, input, environment, platform
)
SELECT
  g.program_name AS program, g.space_color AS color, g.compile_count,
  g.run_count, g.variant_count, g.min_bytes AS min_reserved_bytes,
  g.max_bytes AS max_reserved_bytes,
  (g.max_bytes - g.min_bytes) / nullif(g.min_bytes, 0) AS band_ratio,
  g.example_run
FROM grouped AS g
WHERE g.compile_count >= $min_compiles
  AND (g.variant_count > 1 OR NOT $only_variants)
ORDER BY
  g.max_bytes - g.min_bytes DESC, g.variant_count DESC, g.program_name,
  g.space_color, g.input, g.example_run
