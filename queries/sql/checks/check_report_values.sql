-- title: Memory reports list the same values
-- question: Which rows of a memory-usage report have no values in the
--   assignment?
-- definition: Each row of a memory-usage report counts the values at one
--   offset and gives their largest size. The assignment has as many values
--   there, in the allocation that the report names or in one of that memory
--   space. expected is the number of values in the report, found the number at
--   the best matching place: the same offset and size, within the rounding.
-- grain: fault
-- param run VARCHAR = NULL of runs.name: Only modules of this run; NULL for
--   all.
-- column module_id
-- column place VARCHAR text neutral: Affected part of the module.
-- column expected BIGINT count neutral: Expected value.
-- column found BIGINT count neutral: Value found.
WITH listed AS (
  SELECT
    r.*, coalesce(r.allocation_id, r.color) AS home,
    r.size_bytes - r.tolerance AS least_bytes,
    r.size_bytes + r.tolerance AS most_bytes
  FROM checked_modules() AS m
  JOIN (
    SELECT
      *,
      CASE
        WHEN size_text NOT LIKE '%iB' THEN 0
        WHEN size_text LIKE '%KiB' THEN 52
        WHEN size_text LIKE '%MiB' THEN 6267
        ELSE 6417286
      END AS tolerance
    FROM memory_report_values
  ) AS r USING (module_id)
  WHERE m.has_assignment
),
placed AS (
  SELECT
    v.module_id, v.offset_bytes,
    CASE WHEN r.is_numbered THEN v.allocation_id ELSE a.color END AS home,
    count(*) AS value_count, max(v.size_bytes) AS size_bytes
  FROM (
    SELECT module_id, bool_or(allocation_id IS NOT NULL) AS is_numbered
    FROM listed
    GROUP BY module_id
  ) AS r
  JOIN allocation_values AS v USING (module_id)
  JOIN allocations AS a USING (module_id, allocation_id)
  GROUP BY v.module_id, v.allocation_id, a.color, v.offset_bytes, r.is_numbered
),
missing AS (
  SELECT r.*
  FROM listed AS r
  ANTI JOIN (SELECT DISTINCT * FROM placed) AS p
    ON p.module_id = r.module_id
    AND p.home = r.home
    AND p.offset_bytes = r.offset_bytes
    AND p.value_count = r.value_count
    AND p.size_bytes >= r.least_bytes
    AND p.size_bytes <= r.most_bytes
)
SELECT
  r.module_id,
  'values at offset ' || r.offset_bytes
    || coalesce(' of allocation ' || r.allocation_id, ' in colour ' || r.color)
    || ', ' || r.size_text AS place,
  CAST(r.value_count AS BIGINT) AS expected,
  coalesce(max(p.value_count), 0) AS found
FROM missing AS r
LEFT JOIN placed AS p
  ON p.module_id = r.module_id
  AND p.home = r.home
  AND p.offset_bytes = r.offset_bytes
  AND p.size_bytes >= r.least_bytes
  AND p.size_bytes <= r.most_bytes
GROUP BY
  r.module_id, r.table_number, r.color, r.allocation_id, r.offset_bytes,
  r.size_text, r.value_count, r.shapes
