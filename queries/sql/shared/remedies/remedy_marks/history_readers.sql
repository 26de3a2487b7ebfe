-- step: Instructions that read them. is_passed_on: the result is one of them;
--   is_mixing: it has to see all parts at once, as a median.
-- grain: program, form, instruction
WITH mixing AS (
  SELECT module_id, instruction_id, computation_id
  FROM scheduled_instructions
  WHERE opcode IN ('convolution', 'fft', 'reverse', 'sort', 'topk')
),
mixing_readers AS (
  SELECT module_id, instruction_id FROM mixing
  UNION
  SELECT c.module_id, c.instruction_id
  FROM called_computations AS c
  JOIN mixing AS x USING (module_id, computation_id)
)
SELECT
  m.module_id, m.dimensions, m.element_type, u.instruction_id,
  any_value(f.opcode) AS opcode, any_value(c.kind) AS computation_kind,
  coalesce(max(v.size_bytes), 0) AS result_bytes,
  bool_or(s.instruction_id IS NOT NULL) AS is_reducing,
  bool_or(x.instruction_id IS NOT NULL) AS is_mixing,
  coalesce(bool_or(
    v.dimensions = m.dimensions AND v.element_type = m.element_type
  ), FALSE)
  OR bool_or(p.value_id IS NOT NULL) AS is_passed_on
FROM history_members AS m
JOIN store.value_uses AS u USING (module_id, value_id)
JOIN store.instructions AS i
  ON i.module_id = u.module_id
  AND i.instruction_id = u.instruction_id
JOIN store.instruction_forms AS f USING (form_id)
JOIN computations AS c
  ON c.module_id = i.module_id
  AND c.computation_id = i.computation_id
LEFT JOIN arrays AS v
  ON v.module_id = u.module_id
  AND v.instruction_id = u.instruction_id
LEFT JOIN history_members AS p
  ON p.module_id = v.module_id
  AND p.value_id = v.value_id
  AND p.dimensions = m.dimensions
  AND p.element_type = m.element_type
LEFT JOIN reducing_instructions AS s
  ON s.module_id = u.module_id
  AND s.instruction_id = u.instruction_id
LEFT JOIN mixing_readers AS x
  ON x.module_id = u.module_id
  AND x.instruction_id = u.instruction_id
WHERE f.opcode <> 'tuple'
GROUP BY m.module_id, m.dimensions, m.element_type, u.instruction_id
