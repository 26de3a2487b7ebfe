-- title: Modules that fail a check
-- question: Which module contents fail which check, where, and by how much?
-- definition: All checks of single modules: one row for each module and check
--   that fails, with the number of failures and the place where expected and
--   found differ most.
-- grain: module content, check
-- param run VARCHAR = NULL of runs.name: Only this run; NULL for all.
-- column check_name VARCHAR name neutral: Name of the check; the query
--   check_NAME defines it.
-- column module_id
-- column fault_count BIGINT count lower_is_better: Places that fail.
-- column place VARCHAR text neutral: Place with the largest difference.
-- column expected BIGINT count neutral: Expected value there.
-- column found BIGINT count neutral: Value found there.
WITH faults AS (
  SELECT 'totals' AS check_name, c.* FROM check_totals() AS c
  UNION ALL
  SELECT 'value_bounds', c.* FROM check_value_bounds() AS c
  UNION ALL
  SELECT 'value_places', c.* FROM check_value_places() AS c
  UNION ALL
  SELECT 'value_sizes', c.* FROM check_value_sizes() AS c
  UNION ALL
  SELECT 'overlaps', c.* FROM check_overlaps() AS c
  UNION ALL
  SELECT 'range_bounds', c.* FROM check_range_bounds() AS c
  UNION ALL
  SELECT 'range_starts', c.* FROM check_range_starts() AS c
  UNION ALL
  SELECT 'range_ends', c.* FROM check_range_ends() AS c
  UNION ALL
  SELECT 'operands', c.* FROM check_operands() AS c
  UNION ALL
  SELECT 'calls', c.* FROM check_calls() AS c
  UNION ALL
  SELECT 'definitions', c.* FROM check_definitions() AS c
  UNION ALL
  SELECT 'uses', c.* FROM check_uses() AS c
  UNION ALL
  SELECT 'report_totals', c.* FROM check_report_totals() AS c
  UNION ALL
  SELECT 'report_allocations', c.*
  FROM check_report_allocations() AS c
  UNION ALL
  SELECT 'report_values', c.* FROM check_report_values() AS c
  UNION ALL
  SELECT 'memory_analysis', c.* FROM check_memory_analysis() AS c
  UNION ALL
  SELECT 'proto', c.* FROM check_proto() AS c
),
ranked AS (
  SELECT
    f.*, count(*) OVER (PARTITION BY f.check_name, f.module_id) AS fault_count,
    row_number() OVER (
      PARTITION BY f.check_name, f.module_id
      ORDER BY
        abs(f.expected - f.found) DESC NULLS LAST, f.place, f.expected,
        f.found
    ) AS ordinal
  FROM faults AS f
)
SELECT
  r.check_name, r.module_id, r.fault_count, r.place,
  CAST(r.expected AS BIGINT) AS expected, CAST(r.found AS BIGINT) AS found
FROM ranked AS r
WHERE r.ordinal = 1
