-- title: Every value has one place
-- question: Which values have no offset in an allocation, or more than one?
-- definition: Every value of an assignment lies in exactly one allocation, at
--   one offset. A value that reuses an allocation of another memory space is
--   placed in its own one only.
-- grain: fault
-- param run VARCHAR = NULL of runs.name: Only modules of this run; NULL for
--   all.
-- column module_id
-- column place VARCHAR text neutral: Affected part of the module.
-- column expected BIGINT count neutral: Expected value.
-- column found BIGINT count neutral: Value found.
WITH doubtful AS MATERIALIZED (
  SELECT d.module_id FROM suspect_values() AS d
),
places AS (
  SELECT p.module_id, p.value_id
  FROM allocation_values AS p
  WHERE p.module_id IN (SELECT module_id FROM doubtful)
)
SELECT
  v.module_id, 'places of value ' || v.value_id AS place,
  CAST(1 AS BIGINT) AS expected,
  count(p.value_id) AS found
FROM checked_modules() AS m
JOIN doubtful AS d USING (module_id)
JOIN store."values" AS v USING (module_id)
LEFT JOIN places AS p USING (module_id, value_id)
GROUP BY v.module_id, v.value_id
HAVING count(p.value_id) <> 1
