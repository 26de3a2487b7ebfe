-- title: Allocations add up to the printed total
-- question: Where do the sizes of all allocations not add up to the total that
--   XLA printed?
-- definition: The sum of all allocation sizes, over all memory spaces, is
--   'Total bytes used'.
-- grain: fault
-- param run VARCHAR = NULL of runs.name: Only modules of this run; NULL for
--   all.
-- column module_id
-- column place VARCHAR text neutral: Affected part of the module.
-- column expected BIGINT count neutral: Expected value.
-- column found BIGINT count neutral: Value found.
SELECT
  m.module_id, 'sum of all allocations' AS place,
  m.printed_total_bytes AS expected, CAST(sum(a.size_bytes) AS BIGINT) AS found
FROM checked_modules() AS m
JOIN allocations AS a USING (module_id)
GROUP BY m.module_id, m.printed_total_bytes
HAVING sum(a.size_bytes) <> m.printed_total_bytes
