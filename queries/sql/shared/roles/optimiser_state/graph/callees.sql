-- step: Computations that they call.
-- grain: instruction, computation
SELECT c.module_id, c.instruction_id, c.computation_id, n.opcode
FROM marked_programs
JOIN called_computations AS c USING (module_id)
JOIN nodes AS n USING (module_id, instruction_id)
WHERE n.opcode IN ('call', 'conditional', 'fusion', 'while')
