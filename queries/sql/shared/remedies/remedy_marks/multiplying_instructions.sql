-- step: Products of matrices, and fusions with one.
-- grain: instruction
WITH products AS MATERIALIZED (
  SELECT module_id, instruction_id, computation_id
  FROM scheduled_instructions
  WHERE opcode = 'dot'
    OR opcode = 'convolution' AND op_name LIKE '%dot_general%'
)
SELECT module_id, instruction_id FROM products
UNION
SELECT c.module_id, c.instruction_id
FROM called_computations AS c
JOIN products AS p USING (module_id, computation_id)
