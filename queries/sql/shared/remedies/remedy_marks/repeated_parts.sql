-- step: Arrays that a product reads and that are joined of parts in their last
--   dimension, most of which repeat a smaller array, as of all pairs; and
--   their gradients.
-- grain: value
WITH repeating AS MATERIALIZED (
  SELECT s.module_id, s.instruction_id
  FROM scheduled_instructions AS s
  JOIN operands AS e USING (module_id, instruction_id)
  JOIN scheduled_instructions AS o
    ON o.module_id = e.module_id
    AND o.instruction_id = e.operand_id
  WHERE s.opcode IN ('broadcast', 'fusion')
  GROUP BY s.module_id, s.instruction_id, s.logical_bytes
  HAVING 8 * max(o.logical_bytes) <= s.logical_bytes
),
joined AS (
  SELECT s.module_id, s.instruction_id
  FROM scheduled_instructions AS s
  JOIN operands AS e USING (module_id, instruction_id)
  JOIN scheduled_instructions AS o
    ON o.module_id = e.module_id
    AND o.instruction_id = e.operand_id
  LEFT JOIN repeating AS r
    ON r.module_id = o.module_id
    AND r.instruction_id = o.instruction_id
  WHERE s.opcode = 'concatenate'
    AND regexp_extract(o.shape, '(\d+)\]', 1)
      <> regexp_extract(s.shape, '(\d+)\]', 1)
  GROUP BY s.module_id, s.instruction_id, s.logical_bytes
  HAVING 2 * sum(o.logical_bytes) FILTER (WHERE r.module_id IS NOT NULL)
    >= s.logical_bytes
)
SELECT DISTINCT v.module_id, v.value_id
FROM arrays AS v
JOIN multiplied_arrays AS m
  ON m.module_id = v.module_id
  AND m.element_type = v.element_type
  AND m.logical_bytes = v.logical_bytes
  AND split_part(m.dimensions, ',', -1) = split_part(v.dimensions, ',', -1)
SEMI JOIN joined AS j
  ON j.module_id = m.module_id
  AND j.instruction_id = m.maker_id
WHERE v.kind = 'temp'
