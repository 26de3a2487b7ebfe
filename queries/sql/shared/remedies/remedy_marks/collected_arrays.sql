-- step: Of these, those that other operations read.
-- grain: value
SELECT c.module_id, c.value_id, c.size_bytes
FROM mapped_arrays AS c
JOIN store.value_uses AS u USING (module_id, value_id)
JOIN scheduled_instructions AS r
  ON r.module_id = u.module_id
  AND r.instruction_id = u.instruction_id
WHERE r.op_name <> ''
  AND r.op_name NOT LIKE '%vmap(%'
GROUP BY c.module_id, c.value_id, c.size_bytes
