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
joined AS MATERIALIZED (
  SELECT s.module_id, s.instruction_id, s.computation_id, s.logical_bytes
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
  GROUP BY s.module_id, s.instruction_id, s.computation_id, s.logical_bytes
  HAVING 2 * sum(o.logical_bytes) FILTER (WHERE r.module_id IS NOT NULL)
    >= s.logical_bytes
),
makers AS (
  SELECT module_id, instruction_id, logical_bytes FROM joined
  UNION
  SELECT c.module_id, c.instruction_id, j.logical_bytes
  FROM called_computations AS c
  JOIN joined AS j USING (module_id, computation_id)
),
forms AS (
  SELECT DISTINCT
    v.module_id, v.element_type, v.logical_bytes,
    split_part(v.dimensions, ',', -1) AS last_side
  FROM arrays AS v
  JOIN makers AS m
    ON m.module_id = v.module_id
    AND m.instruction_id = v.instruction_id
    AND m.logical_bytes = v.logical_bytes
  JOIN store.value_uses AS u
    ON u.module_id = v.module_id
    AND u.value_id = v.value_id
  SEMI JOIN multiplying_instructions AS p
    ON p.module_id = u.module_id
    AND p.instruction_id = u.instruction_id
  WHERE v.kind = 'temp'
)
SELECT v.module_id, v.value_id
FROM arrays AS v
JOIN forms AS f
  ON f.module_id = v.module_id
  AND f.element_type = v.element_type
  AND f.logical_bytes = v.logical_bytes
  AND f.last_side = split_part(v.dimensions, ',', -1)
WHERE v.kind = 'temp'
