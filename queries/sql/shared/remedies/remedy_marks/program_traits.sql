-- step: The platform and partitions of each program, whether it has a backward
--   pass, whether that recomputes the forward pass, whether XLA would leave
--   that so, whether it uses operations that 16 bits are too few for, and
--   whether it has convolutions over windows.
-- grain: program
WITH passes AS (
  SELECT module_id, bool_or(made_in = 'backward') AS has_backward
  FROM value_phases()
  GROUP BY module_id
),
operations AS (
  SELECT
    i.module_id, count(*) FILTER (WHERE i.is_recomputed) AS recomputed_count,
    count(*) FILTER (WHERE i.is_backward) AS backward_count,
    bool_or(i.is_differentiated) AS is_differentiated,
    bool_or(i.is_exact) AS is_exact,
    bool_or(contains(i.op_name, 'conv_general_dilated')) AS has_windows
  FROM scheduled_instructions AS i
  GROUP BY i.module_id
),
-- XLA for CPUs merged what jax.checkpoint repeats with the first computation
-- until jaxlib 0.11.0, and keeps both since 0.11.1 (compiled: eight layers by
-- jaxlib 0.5.3, 0.10.2, 0.11.0, 0.11.1, 0.11.2 and 0.12.0). A dump tells the
-- release by the flags that compile_options lists: 0.11.1 is the first with
-- this one.
recomputing_runs AS (
  SELECT DISTINCT f.run_id
  FROM compiler_flags AS f
  WHERE f.name = 'xla_enable_hlo_modules_upload'
)
SELECT
  o.module_id, any_value(m.platform) AS platform,
  any_value(coalesce(d.num_partitions, 1)) AS partitions,
  coalesce(bool_or(p.has_backward), FALSE)
    OR coalesce(bool_or(o.is_differentiated), FALSE) AS has_backward,
  bool_or(5 * o.recomputed_count >= o.backward_count
    AND o.recomputed_count > 0) AS is_recomputed,
  bool_or(m.platform IS DISTINCT FROM 'cpu' OR k.run_id IS NOT NULL)
    AS may_recompute,
  coalesce(bool_or(o.is_exact), FALSE) AS is_exact,
  coalesce(bool_or(o.has_windows), FALSE) AS has_windows
FROM operations AS o
JOIN selected_modules() AS m ON m.module_id = o.module_id
JOIN modules AS d ON d.module_id = o.module_id
LEFT JOIN recomputing_runs AS k ON k.run_id = m.run_id
LEFT JOIN passes AS p ON p.module_id = o.module_id
GROUP BY o.module_id
