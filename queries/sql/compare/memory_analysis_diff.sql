-- title: What memory_analysis() says of programs of two runs
-- question: How do programs whose buffer assignment is unknown, as captured
--   ones of TPUs, differ in what JAX's memory_analysis() says?
-- definition: Programs with the same module name in memory_analysis of both
--   runs; of several with one name, such as lambdas, those with as many bytes
--   of arguments and results, then the others, the nth by path with the nth.
--   needed_bytes are arguments, results and temporaries, less the results that
--   share the memory of arguments (aliases).
-- grain: module name, nth
-- leading: program, delta_needed_bytes, delta_alias_bytes,
--   base_needed_bytes, candidate_needed_bytes
-- param base
-- param candidate
-- column base
-- column candidate
-- column program VARCHAR name neutral: Name of the module.
-- column has_assignment BOOLEAN flag neutral: Whether both runs have a buffer
--   assignment of a module with this name, which says more.
-- column base_needed_bytes BIGINT bytes lower_is_better: Needed in the base.
-- column candidate_needed_bytes BIGINT bytes lower_is_better: Needed in the
--   candidate.
-- column delta_needed_bytes BIGINT bytes lower_is_better: The difference.
-- column delta_argument_bytes BIGINT bytes lower_is_better: Difference of
--   arguments.
-- column delta_output_bytes BIGINT bytes lower_is_better: Of results.
-- column delta_alias_bytes BIGINT bytes higher_is_better: Of results that
--   share the memory of arguments; less than 0 where donations were lost.
-- column delta_temp_bytes BIGINT bytes lower_is_better: Of temporaries.
WITH pair AS MATERIALIZED (
  SELECT
    p.base_run_id, p.base AS base_run, p.candidate_run_id,
    p.candidate AS candidate_run
  FROM selected_pair() AS p
),
both_runs AS (
  SELECT
    m.*,
    -- Unrelated programs may share a name, seldom their arguments too.
    CASE WHEN min(m.run_id) OVER same_arrays < max(m.run_id) OVER same_arrays
      THEN hash(m.argument_bytes, m.output_bytes) END AS shared_key
  FROM memory_analysis AS m
  JOIN pair AS p ON m.run_id IN (p.base_run_id, p.candidate_run_id)
  WINDOW same_arrays AS (
    PARTITION BY m.module_name, m.argument_bytes, m.output_bytes
  )
),
said AS MATERIALIZED (
  SELECT
    m.run_id, m.module_name, m.shared_key, m.argument_bytes, m.output_bytes,
    m.alias_bytes, m.temp_bytes,
    m.argument_bytes + m.output_bytes + m.temp_bytes - m.alias_bytes AS needed,
    row_number() OVER (
      PARTITION BY m.run_id, m.module_name, m.shared_key
      ORDER BY m.path, m.ordinal
    ) AS nth
  FROM both_runs AS m
),
assigned AS (
  SELECT DISTINCT m.run_id, m.name AS module_name
  FROM modules AS m
  WHERE m.has_assignment
)
SELECT
  p.base_run AS base, p.candidate_run AS candidate, c.module_name AS program,
  d.run_id IS NOT NULL AND a.run_id IS NOT NULL AS has_assignment,
  b.needed AS base_needed_bytes, c.needed AS candidate_needed_bytes,
  c.needed - b.needed AS delta_needed_bytes,
  c.argument_bytes - b.argument_bytes AS delta_argument_bytes,
  c.output_bytes - b.output_bytes AS delta_output_bytes,
  c.alias_bytes - b.alias_bytes AS delta_alias_bytes,
  c.temp_bytes - b.temp_bytes AS delta_temp_bytes
FROM pair AS p
JOIN said AS b ON b.run_id = p.base_run_id
JOIN said AS c
  ON c.run_id = p.candidate_run_id
  AND c.module_name = b.module_name
  AND c.shared_key IS NOT DISTINCT FROM b.shared_key
  AND c.nth = b.nth
LEFT JOIN assigned AS d
  ON d.run_id = b.run_id
  AND d.module_name = b.module_name
LEFT JOIN assigned AS a
  ON a.run_id = c.run_id
  AND a.module_name = c.module_name
ORDER BY
  abs(delta_needed_bytes) DESC NULLS LAST, c.module_name, c.shared_key, c.nth
