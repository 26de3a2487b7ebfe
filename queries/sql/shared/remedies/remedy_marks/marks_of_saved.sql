-- step: Arrays saved for the backward pass that could be recomputed, wait in
--   another memory, or be saved for fewer iterations of a loop. What is
--   recomputed is there again when the backward pass reads it: that counts
--   where it reads most of it at the peak, as of one block.
-- grain: value, mark, subject
WITH read_at_peak AS MATERIALIZED (
  SELECT s.module_id
  FROM saved_arrays AS s
  JOIN (
    SELECT DISTINCT module_id, color, peak_step
    FROM selected_memory(color := 0)
  ) AS m
    ON m.module_id = s.module_id
    AND m.color = s.color
  WHERE m.peak_step BETWEEN s.start_step AND s.end_step
  GROUP BY s.module_id
  HAVING 2 * coalesce(sum(s.size_bytes) FILTER (
    m.peak_step BETWEEN s.idle_from_step AND s.idle_until_step
  ), 0) < sum(s.size_bytes)
)
SELECT
  s.module_id, s.value_id, 'saved' AS mark,
  'all saved activations' AS subject,
  CASE WHEN b.module_id IS NOT NULL THEN s.idle_from_step END AS from_step,
  CASE WHEN b.module_id IS NOT NULL THEN s.idle_until_step END AS until_step
FROM saved_arrays AS s
JOIN program_traits AS p USING (module_id)
LEFT JOIN read_at_peak AS b USING (module_id)
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
