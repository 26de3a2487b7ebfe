-- step: Instructions of these fusions, and of computations that they call in
--   turn.
-- grain: fusion, instruction
WITH RECURSIVE called AS (
  SELECT DISTINCT
    m.module_id, m.instruction_id AS fusion_id,
    m.instruction_id AS caller_id, c.computation_id
  FROM meeting_values AS m
  JOIN called_computations AS c USING (module_id, instruction_id)
  WHERE m.opcode = 'fusion'
    AND c.role = 'calls'
  UNION
  SELECT d.module_id, d.fusion_id, i.instruction_id, c.computation_id
  FROM called AS d
  JOIN store.instructions AS i
    ON i.module_id = d.module_id
    AND i.computation_id = d.computation_id
  JOIN called_computations AS c
    ON c.module_id = i.module_id
    AND c.instruction_id = i.instruction_id
  WHERE c.role = 'calls'
)
SELECT
  d.module_id, d.fusion_id, d.caller_id, i.instruction_id, f.opcode,
  f.parameter_number, f.element_type, f.shape, f.attributes,
  i.instruction_id = o.root_instruction_id AS is_root
FROM called AS d
JOIN computations AS o USING (module_id, computation_id)
JOIN store.instructions AS i USING (module_id, computation_id)
JOIN store.instruction_forms AS f USING (form_id)
