-- title: Parameters of programs
-- question: What is the framework's name of each parameter?
-- definition: Parameter instructions of the entry computation. In dumps of JAX
--   since 2024, op_name is the argument, such as params[2]; in older ones it
--   is missing, or that of an operation that was merged into the parameter.
-- grain: module content, parameter
-- param run
-- param program
-- column module_id
-- column parameter_number INTEGER id neutral: The entry parameter.
-- column instruction_id
-- column op_name
SELECT DISTINCT
  e.module_id, f.parameter_number, i.instruction_id, f.op_name
FROM (
  SELECT DISTINCT m.module_id, m.entry_computation_id AS computation_id
  FROM selected_modules() AS o
  JOIN modules AS m
    ON m.run_id = o.run_id
    AND m.module_id = o.module_id
) AS e
JOIN store.instructions AS i USING (module_id, computation_id)
JOIN store.instruction_forms AS f USING (form_id)
WHERE f.opcode = 'parameter'
