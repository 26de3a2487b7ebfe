-- step: Which computations an instruction calls.
-- grain: pair, side, calling instruction, called computation
SELECT
  p.pair, p.is_candidate, c.instruction_id, c.role,
  c.computation_id AS called_id
FROM programs AS p
JOIN called_computations AS c USING (module_id)
