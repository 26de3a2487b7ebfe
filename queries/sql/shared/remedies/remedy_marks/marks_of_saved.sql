-- step: Arrays saved for the backward pass that could be recomputed, wait in
--   another memory, or be saved for fewer iterations of a loop.
-- grain: value, mark, subject
SELECT
  s.module_id, s.value_id, 'saved' AS mark,
  'all saved activations' AS subject, CAST(NULL AS INTEGER) AS from_step,
  CAST(NULL AS INTEGER) AS until_step
FROM saved_arrays AS s
JOIN program_traits AS p USING (module_id)
ANTI JOIN loop_stacks AS k
  ON k.module_id = s.module_id
  AND k.allocation_id = s.allocation_id
  AND k.offset_bytes = s.offset_bytes
  AND k.dimensions = s.dimensions
WHERE p.platform IS DISTINCT FROM 'cpu'
  AND NOT p.is_recomputed
UNION ALL
SELECT
  s.module_id, s.value_id, 'offloaded', 'all saved activations',
  s.idle_from_step, s.idle_until_step
FROM saved_arrays AS s
JOIN program_traits AS p USING (module_id)
WHERE s.idle_from_step IS NOT NULL
  AND p.platform IN ('tpu', 'gpu', 'rocm')
UNION ALL
SELECT
  k.module_id, k.value_id, 'kept',
  'values that ' || k.loop_name || ' saves per iteration', NULL, NULL
FROM kept_stacks AS k
UNION ALL
-- What the compiler alone makes of them goes with them.
SELECT
  w.module_id, w.value_id, 'kept',
  'values that ' || k.loop_name || ' saves per iteration', NULL, NULL
FROM widened_arrays AS w
JOIN arrays AS v USING (module_id, value_id)
JOIN store.value_uses AS u
  ON u.module_id = v.module_id
  AND u.instruction_id = v.instruction_id
JOIN kept_stacks AS k
  ON k.module_id = u.module_id
  AND k.value_id = u.value_id
