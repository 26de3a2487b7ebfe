-- title: Memory reports have the same total
-- question: Where does a memory-usage report give another total than the
--   assignment?
-- definition: The total of a memory-usage report is the sum of the allocation
--   sizes; since 2026-03 there is a total for each memory space.
-- grain: fault
-- param run VARCHAR = NULL of runs.name: Only modules of this run; NULL for
--   all.
-- column module_id
-- column place VARCHAR text neutral: Affected part of the module.
-- column expected BIGINT count neutral: Expected value.
-- column found BIGINT count neutral: Value found.
WITH sizes AS (
  -- One row for each colour, and one without a colour for all of them.
  SELECT a.module_id, a.color, sum(a.size_bytes) AS size_bytes
  FROM allocations AS a
  GROUP BY GROUPING SETS ((a.module_id, a.color), (a.module_id))
)
SELECT
  r.module_id,
  coalesce('total of colour ' || r.color, 'total of all colours') AS place,
  r.total_bytes AS expected,
  CAST(coalesce(s.size_bytes, 0) AS BIGINT) AS found
FROM checked_modules() AS m
JOIN memory_reports AS r USING (module_id)
LEFT JOIN sizes AS s
  ON s.module_id = r.module_id
  AND s.color IS NOT DISTINCT FROM r.color
WHERE m.has_assignment
  AND coalesce(s.size_bytes, 0) <> r.total_bytes
