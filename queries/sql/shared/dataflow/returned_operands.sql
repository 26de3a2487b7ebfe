-- title: What computations return in a tuple
-- question: Which instructions are the elements of a computation's result?
-- definition: Operands of the tuple at the root of each computation of the
--   run's modules, snapshots after passes included.
-- grain: module content, computation, operand
-- param run
-- column module_id
-- column computation_id INTEGER id neutral: The computation.
-- column operand_index INTEGER count neutral: Index into the result.
-- column operand_id INTEGER id neutral: The instruction.
SELECT c.module_id, c.computation_id, o.operand_index, o.operand_id
FROM (
  SELECT DISTINCT m.module_id
  FROM selected_run() AS r
  JOIN modules AS m USING (run_id)
) AS d
JOIN computations AS c USING (module_id)
JOIN store.instructions AS i
  ON i.module_id = c.module_id
  AND i.instruction_id = c.root_instruction_id
JOIN store.instruction_forms AS f USING (form_id)
JOIN operands AS o
  ON o.module_id = c.module_id
  AND o.instruction_id = c.root_instruction_id
WHERE f.opcode = 'tuple'
