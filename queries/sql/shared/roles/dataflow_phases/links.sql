-- step: What flows between these.
-- grain: reading instruction, operand
SELECT
  e.module_id, e.reader_id, e.operand_id,
  r.is_unmarked AS is_reader_unmarked,
  o.is_unmarked AS is_operand_unmarked
FROM edges AS e
JOIN working_instructions AS r
  ON r.module_id = e.module_id
  AND r.instruction_id = e.reader_id
JOIN working_instructions AS o
  ON o.module_id = e.module_id
  AND o.instruction_id = e.operand_id
