-- title: Memory reports have the same allocations
-- question: Which allocations of a memory-usage report differ from the assignment?
-- definition: Every allocation that a report lists is one of the assignment: of the same size,
--   within the rounding of sizes as printed (up to 1023 bytes exact, KiB to one
--   decimal, larger ones to two, of whole units of the next smaller kind). The report
--   lists all, or says how many it leaves out.
-- grain: fault
-- needs: checked_modules, memory_report_allocations, memory_reports, allocations
-- param run VARCHAR = NULL of runs.name: Only modules of this run; NULL for all.
-- column module_id
-- column place VARCHAR text neutral: What of the module is concerned.
-- column expected BIGINT count neutral: What it should be.
-- column found BIGINT count neutral: What it is.
WITH listed AS (
  SELECT
    r.module_id, r.allocation_id, r.size_bytes,
    CASE
      WHEN r.size_text IS NULL OR r.size_text NOT LIKE '%iB' THEN 0
      WHEN r.size_text LIKE '%KiB' THEN 52
      WHEN r.size_text LIKE '%MiB' THEN 6267
      ELSE 6417286
    END AS tolerance
  FROM checked_modules(run := $run) AS m
  JOIN memory_report_allocations AS r USING (module_id)
  WHERE m.has_assignment
)
SELECT
  l.module_id, 'size of allocation ' || l.allocation_id AS place,
  l.size_bytes AS expected, a.size_bytes AS found
FROM listed AS l
LEFT JOIN allocations AS a USING (module_id, allocation_id)
WHERE a.size_bytes IS NULL
  OR abs(a.size_bytes - l.size_bytes) > l.tolerance
UNION ALL
SELECT
  l.module_id, 'number of allocations' AS place,
  max(l.listed_count) + max(r.hidden_count) AS expected,
  max(a.allocation_count) AS found
FROM (
  SELECT module_id, count(*) AS listed_count FROM listed GROUP BY module_id
) AS l
JOIN (
  SELECT module_id, max(hidden_count) AS hidden_count
  FROM memory_reports
  GROUP BY module_id
) AS r USING (module_id)
JOIN (
  SELECT module_id, count(*) AS allocation_count
  FROM allocations
  GROUP BY module_id
) AS a USING (module_id)
GROUP BY l.module_id
HAVING max(l.listed_count) + max(r.hidden_count) <> max(a.allocation_count)
