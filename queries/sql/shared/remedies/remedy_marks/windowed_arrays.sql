-- step: Of these, what a reduce-window reads.
-- grain: value
SELECT DISTINCT v.module_id, v.value_id
FROM positional_arrays AS v
JOIN store.value_uses AS u USING (module_id, value_id)
JOIN scheduled_instructions AS i USING (module_id, instruction_id)
LEFT JOIN called_computations AS c
  ON c.module_id = i.module_id
  AND c.instruction_id = i.instruction_id
LEFT JOIN scheduled_instructions AS k
  ON k.module_id = c.module_id
  AND k.computation_id = c.computation_id
WHERE i.opcode = 'reduce-window'
  OR k.opcode = 'reduce-window'
