-- title: Every reference resolves
-- question: Which rows of the warehouse refer to rows that are not there?
-- definition: For each table and each key that it refers by: rows without the
--   row they name. expected is 0. NULL refers to nothing. The check looks at
--   the whole warehouse.
-- grain: reference
-- needs: dangling_ids, computations, instructions, operands,
--   called_computations, aliases, allocations, values, allocation_values,
--   value_positions, value_uses, schedule, live_ranges, printed_peaks,
--   memory_profile, memory_timeline, memory_reports,
--   memory_report_allocations, memory_report_values, modules, rejects,
--   compiler_flags, passes, memory_analysis, proto_comparisons, oom_reports,
--   oom_buffers, runs, stack_frames
-- column place VARCHAR text neutral: What is concerned.
-- column expected BIGINT count neutral: What it should be.
-- column found BIGINT count neutral: What it is.
WITH of_modules AS (
  SELECT 'computations' AS table_name, module_id AS owner_id,
    count(*) AS row_count
  FROM computations
  GROUP BY module_id
  UNION ALL
  SELECT 'instructions', module_id, count(*)
  FROM store.instructions
  GROUP BY module_id
  UNION ALL
  SELECT 'operands', module_id, count(*)
  FROM operands
  GROUP BY module_id
  UNION ALL
  SELECT 'called_computations', module_id, count(*)
  FROM called_computations
  GROUP BY module_id
  UNION ALL
  SELECT 'aliases', module_id, count(*)
  FROM aliases
  GROUP BY module_id
  UNION ALL
  SELECT 'allocations', module_id, count(*)
  FROM allocations
  GROUP BY module_id
  UNION ALL
  SELECT 'values', module_id, count(*)
  FROM store."values"
  GROUP BY module_id
  UNION ALL
  SELECT 'allocation_values', module_id, count(*)
  FROM allocation_values
  GROUP BY module_id
  UNION ALL
  SELECT 'value_positions', module_id, count(*)
  FROM store.value_positions
  GROUP BY module_id
  UNION ALL
  SELECT 'value_uses', module_id, count(*)
  FROM store.value_uses
  GROUP BY module_id
  UNION ALL
  SELECT 'schedule', module_id, count(*)
  FROM store.schedule
  GROUP BY module_id
  UNION ALL
  SELECT 'live_ranges', module_id, count(*)
  FROM store.live_ranges
  GROUP BY module_id
  UNION ALL
  SELECT 'printed_peaks', module_id, count(*)
  FROM printed_peaks
  GROUP BY module_id
  UNION ALL
  SELECT 'memory_profile', module_id, count(*)
  FROM memory_profile
  GROUP BY module_id
  UNION ALL
  SELECT 'memory_timeline', module_id, count(*)
  FROM memory_timeline
  GROUP BY module_id
  UNION ALL
  SELECT 'memory_reports', module_id, count(*)
  FROM memory_reports
  GROUP BY module_id
  UNION ALL
  SELECT 'memory_report_allocations', module_id, count(*)
  FROM memory_report_allocations
  GROUP BY module_id
  UNION ALL
  SELECT 'memory_report_values', module_id, count(*)
  FROM memory_report_values
  GROUP BY module_id
),
of_runs AS (
  SELECT 'modules' AS table_name, run_id AS owner_id, count(*) AS row_count
  FROM store.occurrences
  GROUP BY run_id
  UNION ALL
  SELECT 'dump_files', run_id, count(*)
  FROM store.run_files
  GROUP BY run_id
  UNION ALL
  SELECT 'rejects', run_id, count(*)
  FROM rejects
  GROUP BY run_id
  UNION ALL
  SELECT 'compiler_flags', run_id, count(*)
  FROM compiler_flags
  GROUP BY run_id
  UNION ALL
  SELECT 'passes', run_id, count(*)
  FROM passes
  GROUP BY run_id
  UNION ALL
  SELECT 'memory_analysis', run_id, count(*)
  FROM memory_analysis
  GROUP BY run_id
  UNION ALL
  SELECT 'proto_comparisons', run_id, count(*)
  FROM proto_comparisons
  GROUP BY run_id
  UNION ALL
  SELECT 'oom_reports', run_id, count(*)
  FROM oom_reports
  GROUP BY run_id
  UNION ALL
  SELECT 'oom_buffers', run_id, count(*)
  FROM oom_buffers
  GROUP BY run_id
),
of_sets AS (
  SELECT 'location_numbers' AS table_name, numbering_id AS part_id,
    max(location_number) AS last_number, count(*) AS row_count
  FROM store.location_numbers
  GROUP BY numbering_id
  UNION ALL
  SELECT 'location_lists', list_id, max(location_number), count(*)
  FROM store.location_lists
  GROUP BY list_id
  UNION ALL
  SELECT 'stack_frames', frames_id, NULL, count(*)
  FROM store.stack_frames
  GROUP BY frames_id
),
numbers AS (
  SELECT 'modules without a snapshot' AS place, snapshot_id AS number
  FROM store.occurrences
  ANTI JOIN store.snapshots USING (snapshot_id)
  UNION ALL
  SELECT 'modules without a path', path_id
  FROM store.occurrences
  ANTI JOIN store.paths USING (path_id)
  UNION ALL
  SELECT 'dump_files without a file', file_id
  FROM store.run_files
  ANTI JOIN store.files USING (file_id)
  UNION ALL
  SELECT 'snapshots without a module', snapshot_id
  FROM store.snapshots
  ANTI JOIN store.occurrences USING (snapshot_id)
  UNION ALL
  SELECT 'paths without a module', path_id
  FROM store.paths
  ANTI JOIN store.occurrences USING (path_id)
  UNION ALL
  SELECT 'files without a run', file_id
  FROM store.files
  ANTI JOIN store.run_files USING (file_id)
),
of_forms AS (
  SELECT form_id, max(module_id) AS example, count(*) AS row_count
  FROM store.instructions
  GROUP BY form_id
),
references_to_values AS (
  SELECT 'allocation_values' AS referrer, module_id, value_id
  FROM allocation_values
  WHERE value_id IS NOT NULL
  UNION ALL
  SELECT 'value_positions', module_id, value_id
  FROM store.value_positions
  WHERE value_id IS NOT NULL
  UNION ALL
  SELECT 'value_uses', module_id, value_id
  FROM store.value_uses
  WHERE value_id IS NOT NULL
  UNION ALL
  SELECT 'live_ranges', module_id, value_id
  FROM store.live_ranges
  WHERE value_id IS NOT NULL
),
dangling AS (
  SELECT
    table_name || ' without a module' AS place, owner_id AS example, row_count
  FROM of_modules
  WHERE owner_id NOT IN (SELECT module_id FROM modules)
  UNION ALL
  SELECT table_name || ' without a run', owner_id, row_count
  FROM of_runs
  WHERE owner_id NOT IN (SELECT run_id FROM runs)
  UNION ALL
  SELECT 'location_sets without a module', locations_id, 1
  FROM store.location_sets
  ANTI JOIN store.snapshots USING (locations_id)
  UNION ALL
  SELECT table_name || ' without a set', part_id, row_count
  FROM of_sets
  WHERE (table_name, part_id) NOT IN (
    SELECT ('location_numbers', numbering_id) FROM store.location_sets
    UNION ALL
    SELECT ('location_lists', list_id) FROM store.location_sets
    UNION ALL
    SELECT ('stack_frames', frames_id) FROM store.location_sets
  )
  UNION ALL
  -- Numbers count from 0 without gaps: the greatest tells.
  SELECT 'location_numbers without a location', s.locations_id, 1
  FROM store.location_sets AS s
  JOIN of_sets AS n
    ON n.table_name = 'location_numbers'
    AND n.part_id = s.numbering_id
  LEFT JOIN of_sets AS l
    ON l.table_name = 'location_lists'
    AND l.part_id = s.list_id
  WHERE n.last_number > coalesce(l.last_number, -1)
  UNION ALL
  SELECT place, number, 1
  FROM numbers
  UNION ALL
  SELECT 'instructions without a form', i.example, i.row_count
  FROM of_forms AS i
  ANTI JOIN store.instruction_forms AS f USING (form_id)
  UNION ALL
  SELECT 'forms without an instruction', f.form_id, 1
  FROM store.instruction_forms AS f
  ANTI JOIN of_forms AS i USING (form_id)
  UNION ALL
  SELECT d.place, d.module_id, 1
  FROM dangling_ids() AS d
  UNION ALL
  SELECT r.referrer || ' without a value', r.module_id, 1
  FROM references_to_values AS r
  ANTI JOIN store."values" AS v
    ON v.module_id = r.module_id
    AND v.value_id = r.value_id
  UNION ALL
  SELECT 'allocation_values without an allocation', v.module_id, 1
  FROM allocation_values AS v
  ANTI JOIN allocations AS a
    ON a.module_id = v.module_id
    AND a.allocation_id = v.allocation_id
  UNION ALL
  SELECT 'allocations without a profile', a.module_id, 1
  FROM allocations AS a
  ANTI JOIN memory_profile AS p
    ON p.module_id = a.module_id
    AND p.color = a.color
  UNION ALL
  SELECT 'oom_buffers without a report', b.run_id, 1
  FROM oom_buffers AS b
  ANTI JOIN oom_reports AS r
    ON r.run_id = b.run_id
    AND r.path = b.path
    AND r.ordinal = b.ordinal
)
SELECT
  d.place || ', such as ' || max(d.example) AS place,
  CAST(0 AS BIGINT) AS expected, CAST(sum(d.row_count) AS BIGINT) AS found
FROM dangling AS d
GROUP BY d.place
