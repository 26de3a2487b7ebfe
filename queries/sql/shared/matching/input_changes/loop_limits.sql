-- step: Whole numbers in the conditions of loops: how often they run.
-- grain: program
SELECT m.module_id, list_distinct(list(f.literal)) AS numbers
FROM asked_contents AS m
JOIN called_computations AS c
  ON c.module_id = m.module_id
  AND c.role = 'condition'
JOIN store.instructions AS i
  ON i.module_id = c.module_id
  AND i.computation_id = c.computation_id
JOIN store.instruction_forms AS f USING (form_id)
WHERE f.opcode = 'constant'
  AND regexp_matches(f.shape, '^[su]\d+\[\]')
GROUP BY m.module_id
