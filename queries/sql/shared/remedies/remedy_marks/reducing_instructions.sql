-- step: Instructions that add up many elements, themselves or in a fusion.
-- grain: instruction
SELECT module_id, instruction_id
FROM scheduled_instructions
WHERE opcode IN ('reduce', 'dot')
UNION
SELECT c.module_id, c.instruction_id
FROM called_computations AS c
JOIN scheduled_instructions AS s USING (module_id, computation_id)
WHERE s.opcode IN ('reduce', 'dot')
