-- title: Dangling references
-- question: Which rows refer to rows that do not exist?
-- definition: For every reference between tables, the number of rows whose
--   target is missing. NULL refers to nothing and is not a fault.
-- grain: reference
-- param only_faults BOOLEAN = false: Only references with missing targets.
-- column reference VARCHAR name neutral: table.column -> table.column.
-- column status VARCHAR name neutral: ok or fault.
-- column dangling_count BIGINT count lower_is_better: Rows without a target.
WITH lost AS MATERIALIZED (
  SELECT r.table_name, r.row_count
  FROM module_rows() AS r
  WHERE r.module_id NOT IN (SELECT m.module_id FROM modules AS m)
),
dangling AS MATERIALIZED (
  SELECT d.referrer FROM dangling_ids() AS d
),
faults AS (
  -- for each public reference to a module:
  SELECT '{reference}' AS reference, coalesce(sum(l.row_count), 0) AS n
  FROM lost AS l
  WHERE l.table_name = '{table}'
  -- end
  UNION ALL
  -- for each public reference by number:
  SELECT '{reference}', count(*)
  FROM dangling AS d
  WHERE d.referrer = '{table}.{column}'
  -- end
  UNION ALL
  -- for each other public reference:
  SELECT '{reference}', count(*)
  FROM {source} AS a
  ANTI JOIN {target_source} AS b
    ON {equal}
  WHERE a.{column} IS NOT NULL
  -- end
)
SELECT
  reference, CASE WHEN n = 0 THEN 'ok' ELSE 'fault' END AS status,
  CAST(n AS BIGINT) AS dangling_count
FROM faults
WHERE n > 0
  OR NOT $only_faults
ORDER BY n DESC, reference
