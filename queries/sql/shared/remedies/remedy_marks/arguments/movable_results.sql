-- step: Results that an argument's memory could take, from its last use on, or
--   from the beginning where a loop makes them.
-- grain: result
SELECT
  p.module_id, p.output_id,
  CASE WHEN bool_or(v.opcode = 'while') THEN 0
    ELSE min(p.last_use_step) END AS last_use_step
FROM missed_pairs AS p
JOIN result_places() AS r
  ON r.module_id = p.module_id
  AND r.output_index = p.output_index
JOIN described_values AS v
  ON v.module_id = r.module_id
  AND v.allocation_id = r.allocation_id
  AND v.value_id = r.value_id
GROUP BY p.module_id, p.output_id
