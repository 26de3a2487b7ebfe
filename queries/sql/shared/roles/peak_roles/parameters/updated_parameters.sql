-- step: In programs that donate nothing, the one parameter of the shape of a
--   result that is read by what makes the result.
-- grain: program, parameter
WITH backwards AS MATERIALIZED (
  SELECT DISTINCT h.module_id
  FROM instruction_phases() AS h
  WHERE h.phase = 'backward'
)
SELECT r.module_id, min(n.parameter_number) AS parameter_number
FROM (
  SELECT module_id, value_id, instruction_id, shape FROM result_values
  UNION
  SELECT r.module_id, r.value_id, o.origin_id, r.shape
  FROM result_values AS r
  JOIN origins AS o USING (module_id, instruction_id)
  WHERE o.kind = 'computed'
) AS r
JOIN operands AS p
  ON p.module_id = r.module_id
  AND p.instruction_id = r.instruction_id
JOIN (
  SELECT module_id, instruction_id, parameter_number
  FROM named_instructions
  JOIN entry_computations USING (module_id, computation_id)
  WHERE opcode = 'parameter'
  UNION
  SELECT module_id, instruction_id, parameter_number
  FROM copied_parameters()
) AS n
  ON n.module_id = p.module_id
  AND n.instruction_id = p.operand_id
JOIN allocations AS a
  ON a.module_id = n.module_id
  AND a.parameter_number = n.parameter_number
  AND regexp_replace(a.shape, '\{.*$', '') = r.shape
SEMI JOIN backwards AS b
  ON b.module_id = r.module_id
ANTI JOIN (
  SELECT d.module_id
  FROM allocations AS d
  WHERE d.kind = 'parameter'
    AND d.is_live_out
) AS d
  ON d.module_id = r.module_id
GROUP BY r.module_id, r.value_id
HAVING count(DISTINCT n.parameter_number) = 1
