-- step: Instructions of the selected programs.
-- grain: instruction
SELECT
  i.module_id, i.instruction_id, i.computation_id, i.opcode, i.op_name,
  i.parameter_number
FROM selected_instructions() AS i
