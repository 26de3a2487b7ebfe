-- title: Values have their instruction
-- question: Which values are defined by an instruction that nobody has
--   printed?
-- definition: The instruction that defines a value stands in the module text,
--   or, in an assignment without it and for async computations that older
--   releases do not print, in the assignment itself.
-- grain: fault
-- needs: checked_modules, values, instructions
-- param run VARCHAR = NULL of runs.name: Only modules of this run; NULL for
--   all.
-- column module_id
-- column place VARCHAR text neutral: What of the module is concerned.
-- column expected BIGINT count neutral: What it should be.
-- column found BIGINT count neutral: What it is.
SELECT
  v.module_id, 'instruction ' || i.name || ' of value ' || v.value_id AS place,
  CAST(1 AS BIGINT) AS expected, CAST(0 AS BIGINT) AS found
FROM checked_modules(run := $run) AS m
JOIN store."values" AS v USING (module_id)
LEFT JOIN store.instructions AS i USING (module_id, instruction_id)
LEFT JOIN store.instruction_forms AS f USING (form_id)
WHERE m.has_text
  AND i.computation_id IS NULL
  AND f.opcode IS NULL
