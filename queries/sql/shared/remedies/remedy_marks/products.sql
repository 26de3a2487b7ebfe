-- step: Products of matrices, which XLA for TPUs turns into convolutions.
-- grain: instruction
SELECT module_id, instruction_id, computation_id
FROM scheduled_instructions
WHERE opcode = 'dot'
  OR opcode = 'convolution' AND op_name LIKE '%dot_general%'
