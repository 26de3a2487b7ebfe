-- title: Modules that fail a check
-- question: Which module contents fail which check, where and by how much?
-- definition: All checks of single modules together, a row for each module and
--   check that fails: how often it does, and the place where expected and
--   found differ most.
-- grain: module content, check
-- needs: check_totals, check_value_bounds, check_value_places,
--   check_value_sizes, check_overlaps, check_range_bounds, check_range_starts,
--   check_range_ends, check_operands, check_calls, check_definitions,
--   check_uses, check_report_totals, check_report_allocations,
--   check_report_values, check_memory_analysis, check_proto
-- param run VARCHAR = NULL of runs.name: Only this run; NULL for all.
-- column check_name VARCHAR name neutral: Which check: the query check_… of
--   that name.
-- column module_id
-- column fault_count BIGINT count lower_is_better: Places that fail.
-- column place VARCHAR text neutral: The place where the difference is
--   largest.
-- column expected BIGINT count neutral: What it should be there.
-- column found BIGINT count neutral: What it is there.
WITH faults AS (
  SELECT 'totals' AS check_name, c.* FROM check_totals(run := $run) AS c
  UNION ALL
  SELECT 'value_bounds', c.* FROM check_value_bounds(run := $run) AS c
  UNION ALL
  SELECT 'value_places', c.* FROM check_value_places(run := $run) AS c
  UNION ALL
  SELECT 'value_sizes', c.* FROM check_value_sizes(run := $run) AS c
  UNION ALL
  SELECT 'overlaps', c.* FROM check_overlaps(run := $run) AS c
  UNION ALL
  SELECT 'range_bounds', c.* FROM check_range_bounds(run := $run) AS c
  UNION ALL
  SELECT 'range_starts', c.* FROM check_range_starts(run := $run) AS c
  UNION ALL
  SELECT 'range_ends', c.* FROM check_range_ends(run := $run) AS c
  UNION ALL
  SELECT 'operands', c.* FROM check_operands(run := $run) AS c
  UNION ALL
  SELECT 'calls', c.* FROM check_calls(run := $run) AS c
  UNION ALL
  SELECT 'definitions', c.* FROM check_definitions(run := $run) AS c
  UNION ALL
  SELECT 'uses', c.* FROM check_uses(run := $run) AS c
  UNION ALL
  SELECT 'report_totals', c.* FROM check_report_totals(run := $run) AS c
  UNION ALL
  SELECT 'report_allocations', c.*
  FROM check_report_allocations(run := $run) AS c
  UNION ALL
  SELECT 'report_values', c.* FROM check_report_values(run := $run) AS c
  UNION ALL
  SELECT 'memory_analysis', c.* FROM check_memory_analysis(run := $run) AS c
  UNION ALL
  SELECT 'proto', c.* FROM check_proto(run := $run) AS c
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
