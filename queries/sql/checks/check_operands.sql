-- title: Operands resolve
-- question: Which operands name no instruction of their computation?
-- definition: Every operand of the module text is an instruction that stands in it. An
--   instruction that only the assignment prints reads what nobody has printed.
-- grain: fault
-- needs: checked_modules, operands, instructions
-- param run VARCHAR = NULL of runs.name: Only modules of this run; NULL for all.
-- column module_id
-- column place VARCHAR text neutral: What of the module is concerned.
-- column expected BIGINT count neutral: What it should be.
-- column found BIGINT count neutral: What it is.
SELECT
  o.module_id, 'operand ' || o.operand_index || ' of ' || i.name AS place,
  1 AS expected, 0 AS found
FROM checked_modules(run := $run) AS m
JOIN operands AS o USING (module_id)
JOIN store.instructions AS i USING (module_id, instruction_id)
WHERE o.operand_id IS NULL
  AND i.computation_id IS NOT NULL
