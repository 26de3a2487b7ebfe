-- step: Arrays of f32 into which the compiler alone turned one of 16 bits, as
--   CPU compilers do for products: the program has 16 bits there already.
-- grain: value
SELECT DISTINCT v.module_id, v.value_id
FROM arrays AS v
JOIN scheduled_instructions AS i
  ON i.module_id = v.module_id
  AND i.instruction_id = v.instruction_id
LEFT JOIN called_computations AS c
  ON c.module_id = i.module_id
  AND c.instruction_id = i.instruction_id
  AND i.opcode = 'fusion'
LEFT JOIN scheduled_instructions AS r
  ON r.module_id = c.module_id
  AND r.computation_id = c.computation_id
  AND r.is_root
JOIN operands AS o
  ON o.module_id = i.module_id
  AND o.instruction_id = i.instruction_id
JOIN scheduled_instructions AS s
  ON s.module_id = o.module_id
  AND s.instruction_id = o.operand_id
WHERE v.element_type = 'f32'
  AND coalesce(r.opcode, i.opcode) = 'convert'
  AND coalesce(i.op_name, '') = ''
  AND coalesce(r.op_name, '') = ''
  AND regexp_matches(s.shape, '^b?f16\[')
