-- step: Arguments in fewer parts than partitions, and optimiser state
--   that each device holds whole.
-- grain: argument
SELECT
  m.module_id, a.allocation_id,
  coalesce(
    nullif(regexp_extract(t.op_name, '^[^.\[]*'), ''),
    'parameter ' || t.parameter_number
  ) AS root, t.shards, t.partitions
FROM replicated_tensors(top := NULL) AS t
JOIN selected_modules() AS m
  ON m.program = t.program
  AND m.module_number IS NOT DISTINCT FROM t.module_number
  AND m.rank IS NOT DISTINCT FROM t.rank
JOIN allocations AS a
  ON a.module_id = m.module_id
  AND a.parameter_number = t.parameter_number
  AND a.size_bytes = t.device_bytes
UNION
SELECT module_id, allocation_id, root, 1, partitions
FROM whole_states
