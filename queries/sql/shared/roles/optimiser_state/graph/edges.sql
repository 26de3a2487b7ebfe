-- step: Which instruction reads which.
-- grain: instruction, operand
SELECT o.module_id, o.instruction_id, o.operand_id, o.operand_index
FROM marked_programs
JOIN operands AS o USING (module_id)
WHERE o.operand_id IS NOT NULL
