-- title: Values lie inside their allocations
-- question: Which values extend beyond their allocation, or have none?
-- definition: 0 <= offset_bytes and offset_bytes + size_bytes <= size of the
--   allocation. expected is the size of the allocation, or NULL if there is no
--   such allocation; found is the end of the value, or its offset if that is
--   negative.
-- grain: fault
-- param run VARCHAR = NULL of runs.name: Only modules of this run; NULL for
--   all.
-- column module_id
-- column place VARCHAR text neutral: Affected part of the module.
-- column expected BIGINT count neutral: Expected value.
-- column found BIGINT count neutral: Value found.
SELECT
  v.module_id,
  'value ' || v.value_id || ' in allocation ' || v.allocation_id AS place,
  a.size_bytes AS expected,
  CASE
    WHEN v.offset_bytes < 0 THEN v.offset_bytes
    ELSE v.offset_bytes + v.size_bytes
  END AS found
FROM checked_modules() AS m
JOIN allocation_values AS v USING (module_id)
LEFT JOIN allocations AS a USING (module_id, allocation_id)
WHERE a.size_bytes IS NULL
  OR v.offset_bytes < 0
  OR v.offset_bytes + v.size_bytes > a.size_bytes
