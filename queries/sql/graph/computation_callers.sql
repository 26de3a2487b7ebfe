-- title: Callers of a computation
-- question: Which instructions call each computation, and how often does it
--   run?
-- definition: Rows of called_computations in the last snapshot of every
--   module, with the caller's computation and the number of executions from
--   multiplicity.
-- grain: module occurrence, computation, caller
-- leading: program, computation_name, caller, times, kind, role,
--   caller_opcode, instruction_count
-- param run
-- param program
-- param computation VARCHAR = NULL: Only this computation; NULL for all.
-- column run
-- column program
-- column module_number
-- column rank
-- column computation_name VARCHAR name neutral: Name of the computation.
-- column kind VARCHAR name neutral: entry, fusion, while_body and others.
-- column instruction_count INTEGER count neutral: Its instructions.
-- column caller VARCHAR name neutral: Instruction that calls it; NULL for the
--   entry.
-- column caller_opcode VARCHAR name neutral: Its operation.
-- column role VARCHAR name neutral: calls, to_apply, body, condition and
--   others.
-- column caller_computation VARCHAR name neutral: The caller's computation.
-- column times BIGINT count neutral: Executions in one run of the program,
--   over all callers.
-- column times_known BOOLEAN flag neutral: Whether the trip counts of all
--   loops around it are known.
WITH callers AS (
  SELECT
    c.module_id, c.computation_id, c.role, c.ordinal, i.name AS caller,
    f.opcode AS caller_opcode, i.computation_id AS caller_computation_id,
    i.instruction_id AS caller_id
  FROM final_contents() AS m
  JOIN called_computations AS c USING (module_id)
  JOIN store.instructions AS i USING (module_id, instruction_id)
  -- LEFT, lest all instructions meet their forms first.
  LEFT JOIN store.instruction_forms AS f USING (form_id)
)
SELECT
  m.run, m.program, m.module_number, m.rank, d.name AS computation_name,
  d.kind, d.instruction_count, c.caller, c.caller_opcode, c.role,
  e.name AS caller_computation, coalesce(t.times, 0) AS times,
  coalesce(t.is_known, TRUE) AS times_known
FROM final_modules() AS m
JOIN computations AS d USING (module_id)
LEFT JOIN callers AS c
  ON c.module_id = d.module_id
  AND c.computation_id = d.computation_id
LEFT JOIN computations AS e
  ON e.module_id = c.module_id
  AND e.computation_id = c.caller_computation_id
LEFT JOIN multiplicity() AS t
  ON t.module_id = d.module_id
  AND t.computation_id = d.computation_id
WHERE $computation IS NULL
  OR d.name = $computation
ORDER BY
  m.program, m.module_number, m.rank, d.computation_id, c.caller_id, c.ordinal
