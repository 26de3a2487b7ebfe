-- step: Values in the memory of a parameter or result that are no part of it.
--   In a loop, the array of a result is made step by step, in all of its
--   memory.
-- grain: value
SELECT v.module_id, v.value_id
FROM placed_at_peak AS v
JOIN named_instructions AS i USING (module_id, instruction_id)
LEFT JOIN entry_computations AS e USING (module_id, computation_id)
JOIN allocations AS a
  ON a.module_id = v.module_id
  AND a.allocation_id = v.allocation_id
ANTI JOIN result_values AS r
  ON r.module_id = v.module_id
  AND r.value_id = v.value_id
ANTI JOIN origins AS o
  ON o.module_id = v.module_id
  AND o.instruction_id = v.instruction_id
  AND o.element = v.element
  AND o.is_whole
  AND o.parameter_number = a.parameter_number
WHERE v.kind IN ('parameter', 'live_out')
  AND CASE
    WHEN e.module_id IS NULL
      THEN v.size_bytes <> a.size_bytes
      OR split_part(v.shape, '[', 1) <> split_part(a.shape, '[', 1)
    ELSE i.opcode <> 'parameter'
  END
  AND v.module_id IN (SELECT q.module_id FROM result_values AS q)
