-- title: Memory reports list the same allocations
-- question: Which allocations of a memory-usage report differ from the
--   assignment?
-- definition: Every allocation that a memory-usage report lists is in the
--   buffer assignment with the same size, within the rounding of the printed
--   size (up to 1023 bytes exact, KiB to one decimal, larger units to two). A
--   report lists all allocations, or says how many it leaves out; since
--   2026-03 it lists 50 or more.
-- grain: fault
-- param run VARCHAR = NULL of runs.name: Only modules of this run; NULL for
--   all.
-- column module_id
-- column place VARCHAR text neutral: Affected part of the module.
-- column expected BIGINT count neutral: Expected value.
-- column found BIGINT count neutral: Value found.
WITH listed AS (
  SELECT
    r.module_id, r.color AS report_color, r.allocation_id, r.size_bytes,
    CASE
      WHEN r.size_text IS NULL OR r.size_text NOT LIKE '%iB' THEN 0
      WHEN r.size_text LIKE '%KiB' THEN 52
      WHEN r.size_text LIKE '%MiB' THEN 6267
      ELSE 6417286
    END AS tolerance
  FROM checked_modules() AS m
  JOIN memory_report_allocations AS r USING (module_id)
  WHERE m.has_assignment
),
counted AS (
  SELECT
    l.module_id, l.report_color, count(*) AS listed_count,
    -- Since 2026-03 nothing says how many there are after the first 51.
    l.report_color IS NOT NULL AND count(*) > 50 AS may_hide
  FROM listed AS l
  GROUP BY l.module_id, l.report_color
),
sized AS (
  -- One row for each colour, and one without a colour for all of them.
  SELECT a.module_id, a.color, count(a.allocation_id) AS allocation_count
  FROM allocations AS a
  GROUP BY GROUPING SETS ((a.module_id, a.color), (a.module_id))
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
  c.module_id,
  'number of allocations' || coalesce(' of colour ' || c.report_color, '')
    AS place,
  c.listed_count + r.hidden_count AS expected,
  coalesce(s.allocation_count, 0) AS found
FROM counted AS c
JOIN memory_reports AS r
  ON r.module_id = c.module_id
  AND r.color IS NOT DISTINCT FROM c.report_color
LEFT JOIN sized AS s
  ON s.module_id = c.module_id
  AND s.color IS NOT DISTINCT FROM c.report_color
WHERE NOT c.may_hide
  AND c.listed_count + r.hidden_count <> coalesce(s.allocation_count, 0)
