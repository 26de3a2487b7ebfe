-- title: Every reference resolves
-- question: Which rows of the warehouse refer to rows that are not there?
-- definition: For each table and each key that it refers by: rows without the
--   row they name. expected is 0. NULL refers to nothing. The check looks at
--   the whole warehouse.
-- grain: reference
-- needs: module_rows, dangling_ids, instructions, allocations, values,
--   allocation_values, value_positions, value_uses, live_ranges,
--   memory_profile, modules, rejects, compiler_flags, passes, memory_analysis,
--   proto_comparisons, oom_reports, oom_buffers, runs, stack_frames
-- column place VARCHAR text neutral: What is concerned.
-- column expected BIGINT count neutral: What it should be.
-- column found BIGINT count neutral: What it is.
WITH of_modules AS (
  SELECT r.table_name, r.module_id AS owner_id, r.row_count
  FROM module_rows() AS r
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
  SELECT 'snapshots without a module', snapshot_id
  FROM store.snapshots
  ANTI JOIN store.occurrences USING (snapshot_id)
  UNION ALL
  SELECT 'paths without a module', path_id
  FROM store.paths
  ANTI JOIN store.occurrences USING (path_id)
),
of_files AS (
  SELECT file_id, count(*) AS row_count
  FROM store.run_files
  GROUP BY file_id
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
  SELECT
    CASE
      WHEN r.row_count IS NULL THEN 'files without a run'
      ELSE 'dump_files without a file'
    END,
    coalesce(r.file_id, f.file_id), coalesce(r.row_count, 1)
  FROM of_files AS r
  FULL JOIN store.files AS f ON f.file_id = r.file_id
  WHERE r.row_count IS NULL
    OR f.file_id IS NULL
  UNION ALL
  SELECT
    CASE
      WHEN i.row_count IS NULL THEN 'forms without an instruction'
      ELSE 'instructions without a form'
    END,
    coalesce(i.example, f.form_id), coalesce(i.row_count, 1)
  FROM of_forms AS i
  FULL JOIN store.instruction_forms AS f ON f.form_id = i.form_id
  WHERE i.row_count IS NULL
    OR f.form_id IS NULL
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
