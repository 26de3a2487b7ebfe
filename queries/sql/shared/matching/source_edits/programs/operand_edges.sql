-- step: Which instruction reads which.
-- grain: pair, side, reading instruction, operand
SELECT DISTINCT p.pair, p.is_candidate, e.instruction_id, e.operand_id
FROM programs AS p
JOIN operands AS e USING (module_id)
WHERE e.operand_id IS NOT NULL
