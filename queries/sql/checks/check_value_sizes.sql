-- title: Values have room for their shapes
-- question: Which values have less room than their shape needs?
-- definition: size_bytes >= logical_bytes, for arrays: padding adds and never
--   takes away. The pointer table of a tuple has the size that its backend
--   gives it.
-- grain: fault
-- needs: checked_modules, doubtful_values, allocation_values, values
-- param run VARCHAR = NULL of runs.name: Only modules of this run; NULL for
--   all.
-- column module_id
-- column place VARCHAR text neutral: What of the module is concerned.
-- column expected BIGINT count neutral: What it should be.
-- column found BIGINT count neutral: What it is.
WITH doubtful AS MATERIALIZED (
  SELECT d.module_id FROM doubtful_values(run := $run) AS d
),
places AS (
  SELECT p.module_id, p.value_id, p.size_bytes
  FROM allocation_values AS p
  WHERE p.module_id IN (SELECT module_id FROM doubtful)
)
SELECT
  v.module_id, 'value ' || v.value_id || ' of ' || v.shape AS place,
  v.logical_bytes AS expected, p.size_bytes AS found
FROM checked_modules(run := $run) AS m
JOIN doubtful AS d USING (module_id)
JOIN store."values" AS v USING (module_id)
JOIN places AS p USING (module_id, value_id)
WHERE p.size_bytes < v.logical_bytes
  AND v.shape NOT LIKE '(%'
