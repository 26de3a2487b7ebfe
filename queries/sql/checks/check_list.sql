-- title: All checks
-- question: Which checks are there, and how many rows does each one compare?
-- definition: The checks in their order, with the number of rows that each one
--   compares.
-- grain: check
-- param run VARCHAR = NULL of runs.name: Only this run; NULL for all.
-- column ordinal INTEGER id neutral: Position in the list, from 1.
-- column check_name VARCHAR name neutral: Name of the check; the query
--   check_NAME defines it.
-- column checked_count BIGINT count neutral: Rows that it compares; NULL for
--   checks of whole tables.
WITH contents AS (
  SELECT * FROM checked_modules()
),
counted AS (
  SELECT t.table_name, CAST(sum(t.row_count) AS BIGINT) AS row_count
  FROM contents AS m
  JOIN module_rows() AS t USING (module_id)
  WHERE t.table_name <> 'value_uses'
    OR m.has_text
  GROUP BY t.table_name
  UNION ALL
  SELECT 'live_ranges with text', CAST(sum(t.row_count) AS BIGINT)
  FROM contents AS m
  JOIN module_rows() AS t USING (module_id)
  WHERE t.table_name = 'live_ranges'
    AND m.has_text
),
of_modules AS (
  SELECT
    l.ordinal, l.check_name, coalesce(c.row_count, 0) AS checked_count
  FROM (VALUES
    (2, 'value_bounds', 'allocation_values'),
    (3, 'value_places', 'values'),
    (4, 'value_sizes', 'allocation_values'),
    (5, 'overlaps', 'memory_profile'),
    (6, 'range_bounds', 'live_ranges'),
    (7, 'range_starts', 'live_ranges'),
    (8, 'range_ends', 'live_ranges with text'),
    (9, 'operands', 'operands'),
    (10, 'calls', 'called_computations'),
    (11, 'definitions', 'values'),
    (12, 'uses', 'value_uses'),
    (13, 'report_totals', 'memory_reports'),
    (14, 'report_allocations', 'memory_report_allocations'),
    (15, 'report_values', 'memory_report_values')
  ) AS l (ordinal, check_name, table_name)
  LEFT JOIN counted AS c USING (table_name)
)
SELECT c.ordinal, c.check_name, c.checked_count
FROM (
  SELECT * FROM of_modules
  UNION ALL
  SELECT 1, 'totals', count(printed_total_bytes)
  FROM contents
  WHERE has_assignment
  UNION ALL
  SELECT 16, 'memory_analysis', count(*)
  FROM memory_analysis
  JOIN runs AS r USING (run_id)
  WHERE $run IS NULL OR r.name = $run
  UNION ALL
  SELECT 17, 'proto', coalesce(CAST(sum(compared_count) AS BIGINT), 0)
  FROM proto_comparisons
  JOIN runs AS r USING (run_id)
  WHERE $run IS NULL OR r.name = $run
  UNION ALL
  SELECT 18, 'files', count(*)
  FROM dump_files
  JOIN runs AS r USING (run_id)
  WHERE $run IS NULL OR r.name = $run
  UNION ALL
  VALUES (19, 'references', NULL), (20, 'keys', NULL)
) AS c
ORDER BY c.ordinal
