-- step: Temporary one-hot arrays. is_summed: sums are made of some of them,
--   and no product of matrices reads one; nothing is looked up by them then.
-- grain: value
WITH readers AS (
  SELECT
    v.module_id, bool_or(s.opcode IN ('dot', 'convolution')) AS is_multiplied,
    bool_or(s.opcode = 'reduce') AS is_reduced
  FROM arrays AS v
  JOIN store.value_uses AS u USING (module_id, value_id)
  JOIN (
    SELECT i.module_id, i.instruction_id, i.opcode
    FROM scheduled_instructions AS i
    UNION ALL
    SELECT c.module_id, c.instruction_id, i.opcode
    FROM called_computations AS c
    JOIN scheduled_instructions AS i USING (module_id, computation_id)
  ) AS s
    ON s.module_id = u.module_id
    AND s.instruction_id = u.instruction_id
  WHERE contains(v.name, 'one_hot')
  GROUP BY v.module_id
)
SELECT
  v.module_id, v.value_id,
  coalesce(r.is_reduced AND NOT r.is_multiplied, FALSE) AS is_summed
FROM arrays AS v
LEFT JOIN readers AS r ON r.module_id = v.module_id
WHERE v.kind = 'temp'
  AND contains(v.name, 'one_hot')
  AND v.element_type IN ('f32', 'bf16', 'f16', 'f64', 's32', 's8', 'pred')
