-- title: References resolve
-- question: Which rows refer to rows that do not exist?
-- definition: For each table and each reference: rows whose referenced row is
--   missing. expected is 0. NULL refers to nothing. The check covers the whole
--   warehouse.
-- grain: reference
-- column place VARCHAR text neutral: Table and key.
-- column expected BIGINT count neutral: Expected value.
-- column found BIGINT count neutral: Value found.
WITH of_modules AS (
  SELECT r.table_name, r.module_id AS owner_id, r.row_count
  FROM module_rows() AS r
),
of_runs AS (
  -- for each table of runs:
  SELECT '{table}' AS table_name, run_id AS owner_id, count(*) AS row_count
  FROM {source}
  GROUP BY run_id
  -- end
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
  -- for each reference to a value:
  SELECT '{table}' AS referrer, module_id, value_id
  FROM {source}
  WHERE value_id IS NOT NULL
  -- end
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
  -- for each other reference:
  SELECT '{table} without {lacks}', a.{owner}, 1
  FROM {source} AS a
  ANTI JOIN {target_source} AS b
    ON {equal}
  -- end
)
SELECT
  d.place || ', such as ' || max(d.example) AS place,
  CAST(0 AS BIGINT) AS expected, CAST(sum(d.row_count) AS BIGINT) AS found
FROM dangling AS d
GROUP BY d.place
