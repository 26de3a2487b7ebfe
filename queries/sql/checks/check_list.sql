-- title: What is checked
-- question: Which checks are there, and how much does each look at?
-- definition: The checks in their order, with the number of rows that each
--   compares.
-- grain: check
-- needs: checked_modules, allocation_values, values, memory_profile,
--   live_ranges, operands, called_computations, value_uses, memory_reports,
--   memory_report_allocations, memory_report_values, memory_analysis, runs,
--   proto_comparisons, dump_files
-- param run VARCHAR = NULL of runs.name: Only this run; NULL for all.
-- column ordinal INTEGER id neutral: Place in the list, from 1.
-- column check_name VARCHAR name neutral: Which check: the query check_… of
--   that name.
-- column checked_count BIGINT count neutral: Rows it looks at; NULL for whole
--   tables.
WITH contents AS (
  SELECT * FROM checked_modules(run := $run)
)
SELECT c.ordinal, c.check_name, c.checked_count
FROM (VALUES
  (1, 'totals', (
    SELECT count(printed_total_bytes)
    FROM contents
    WHERE has_assignment
  )),
  (2, 'value_bounds', (
    SELECT count(*)
    FROM contents
    JOIN allocation_values USING (module_id)
  )),
  (3, 'value_places', (
    SELECT count(*)
    FROM contents
    JOIN store."values" USING (module_id)
  )),
  (4, 'value_sizes', (
    SELECT count(*)
    FROM contents
    JOIN allocation_values USING (module_id)
  )),
  (5, 'overlaps', (
    SELECT count(*)
    FROM contents
    JOIN memory_profile USING (module_id)
  )),
  (6, 'range_bounds', (
    SELECT count(*)
    FROM contents
    JOIN store.live_ranges USING (module_id)
  )),
  (7, 'range_starts', (
    SELECT count(*)
    FROM contents
    JOIN store.live_ranges USING (module_id)
  )),
  (8, 'range_ends', (
    SELECT count(*)
    FROM contents
    JOIN store.live_ranges USING (module_id)
  )),
  (9, 'operands', (
    SELECT count(*)
    FROM contents
    JOIN operands USING (module_id)
  )),
  (10, 'calls', (
    SELECT count(*)
    FROM contents
    JOIN called_computations USING (module_id)
  )),
  (11, 'definitions', (
    SELECT count(*)
    FROM contents
    JOIN store."values" USING (module_id)
  )),
  (12, 'uses', (
    SELECT count(*)
    FROM contents
    JOIN store.value_uses USING (module_id)
    WHERE has_text
  )),
  (13, 'report_totals', (
    SELECT count(*)
    FROM contents
    JOIN memory_reports USING (module_id)
  )),
  (14, 'report_allocations', (
    SELECT count(*)
    FROM contents
    JOIN memory_report_allocations USING (module_id)
  )),
  (15, 'report_values', (
    SELECT count(*)
    FROM contents
    JOIN memory_report_values USING (module_id)
  )),
  (16, 'memory_analysis', (
    SELECT count(*)
    FROM memory_analysis
    JOIN runs AS r USING (run_id)
    WHERE $run IS NULL OR r.name = $run
  )),
  (17, 'proto', (
    SELECT coalesce(CAST(sum(compared_count) AS BIGINT), 0)
    FROM proto_comparisons
    JOIN runs AS r USING (run_id)
    WHERE $run IS NULL OR r.name = $run
  )),
  (18, 'files', (
    SELECT count(*)
    FROM dump_files
    JOIN runs AS r USING (run_id)
    WHERE $run IS NULL OR r.name = $run
  )),
  (19, 'references', NULL),
  (20, 'keys', NULL)
) AS c (ordinal, check_name, checked_count)
ORDER BY c.ordinal
