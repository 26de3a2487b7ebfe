-- step: Which instruction reads which.
-- grain: instruction, operand
SELECT p.module_id, p.instruction_id, p.operand_id
FROM half_marked
JOIN operands AS p USING (module_id)
WHERE p.operand_id IS NOT NULL
