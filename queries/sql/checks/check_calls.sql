-- title: Called computations exist
-- question: Which calls name a computation that the module does not contain?
-- definition: Every computation that the module text calls is in it.
--   Instructions that only the buffer assignment prints are left out: the
--   computations that they call are not printed anywhere.
-- grain: fault
-- param run VARCHAR = NULL of runs.name: Only modules of this run; NULL for
--   all.
-- column module_id
-- column place VARCHAR text neutral: Affected part of the module.
-- column expected BIGINT count neutral: Expected value.
-- column found BIGINT count neutral: Value found.
SELECT
  c.module_id, c.role || ' of ' || i.name AS place,
  CAST(1 AS BIGINT) AS expected, CAST(0 AS BIGINT) AS found
FROM checked_modules() AS m
JOIN called_computations AS c USING (module_id)
JOIN store.instructions AS i USING (module_id, instruction_id)
WHERE c.computation_id IS NULL
  AND i.computation_id IS NOT NULL
