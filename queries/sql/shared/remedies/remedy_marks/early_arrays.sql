-- step: Temporary arrays that are first read long after they are computed, by
--   instructions that could compute them then as well: all that they read of
--   temporary values is live until the first read anyway (computed_early).
--   Those of less than a twentieth of the peak are not worth the trouble.
-- grain: value
WITH candidates AS MATERIALIZED (
  SELECT v.*
  FROM arrays AS v
  JOIN scheduled_instructions AS i
    ON i.module_id = v.module_id
    AND i.instruction_id = v.instruction_id
  JOIN computations AS c
    ON c.module_id = i.module_id
    AND c.computation_id = i.computation_id
  WHERE v.kind = 'temp'
    AND v.end_step - v.start_step >= 8
    AND i.opcode NOT IN (
      'parameter', 'while', 'call', 'conditional', 'get-tuple-element',
      'all-reduce', 'all-gather', 'reduce-scatter', 'all-to-all',
      'collective-permute', 'copy', 'rng', 'rng-bit-generator'
    )
    AND NOT regexp_matches(i.opcode, '-(start|update|done)$')
    -- Of one number, which no source line computes.
    AND v.instruction NOT LIKE '%broadcast%'
    AND c.kind = 'entry'
    AND EXISTS (
      SELECT 1
      FROM memory_profile AS m
      WHERE m.module_id = v.module_id
        AND m.color = v.color
        AND 20 * CAST(v.size_bytes AS HUGEINT) >= m.live_peak_bytes
    )
),
first_reads AS MATERIALIZED (
  SELECT c.module_id, c.value_id, min(i.schedule_step) AS first_step
  FROM candidates AS c
  JOIN store.value_uses AS u USING (module_id, value_id)
  JOIN scheduled_instructions AS i
    ON i.module_id = u.module_id
    AND i.instruction_id = u.instruction_id
  WHERE i.schedule_step > c.start_step
  GROUP BY c.module_id, c.value_id
),
needed AS (
  SELECT
    c.module_id, c.value_id,
    bool_or(o.kind = 'temp' AND o.end_step < f.first_step) AS is_needed_longer
  FROM candidates AS c
  JOIN first_reads AS f USING (module_id, value_id)
  JOIN store.value_uses AS u
    ON u.module_id = c.module_id
    AND u.instruction_id = c.instruction_id
  JOIN described_values AS o
    ON o.module_id = u.module_id
    AND o.value_id = u.value_id
  GROUP BY c.module_id, c.value_id
)
SELECT c.*, f.first_step - 1 AS until_step
FROM candidates AS c
JOIN first_reads AS f USING (module_id, value_id)
LEFT JOIN needed AS n USING (module_id, value_id)
WHERE f.first_step - c.start_step >= 8
  AND NOT coalesce(n.is_needed_longer, FALSE)
