-- step: Computations that they call.
-- grain: instruction, computation
SELECT c.module_id, c.instruction_id, c.computation_id
FROM half_marked
JOIN called_computations AS c USING (module_id)
