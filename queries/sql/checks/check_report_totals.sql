-- title: Memory reports have the same totals
-- question: Where does a memory-usage report have another total?
-- definition: The total of a memory-usage report, of one colour since 2026-03,
--   is the sum of the allocation sizes.
-- grain: fault
-- needs: checked_modules, memory_reports, allocations
-- param run VARCHAR = NULL of runs.name: Only modules of this run; NULL for
--   all.
-- column module_id
-- column place VARCHAR text neutral: What of the module is concerned.
-- column expected BIGINT count neutral: What it should be.
-- column found BIGINT count neutral: What it is.
SELECT
  r.module_id,
  coalesce('total of colour ' || r.color, 'total of all colours') AS place,
  r.total_bytes AS expected,
  CAST(coalesce(sum(a.size_bytes), 0) AS BIGINT) AS found
FROM checked_modules(run := $run) AS m
JOIN memory_reports AS r USING (module_id)
LEFT JOIN allocations AS a
  ON a.module_id = r.module_id
  AND (r.color IS NULL OR a.color = r.color)
WHERE m.has_assignment
GROUP BY r.module_id, r.color, r.total_bytes
HAVING coalesce(sum(a.size_bytes), 0) <> r.total_bytes
