-- title: No key is duplicated
-- question: Which tables hold two rows with the same key?
-- definition: For each table and each of its keys: expected is the number of
--   different keys, found the number of keys that occur once. The check covers
--   the whole warehouse.
-- grain: table, key
-- column place VARCHAR text neutral: Table and key.
-- column expected BIGINT count neutral: Expected value.
-- column found BIGINT count neutral: Value found.
WITH doubtful AS MATERIALIZED (
  SELECT u.table_name, u.owner_id FROM suspect_keys() AS u
),
repeated AS (
  -- for each key of a large table:
  SELECT
    '{table} by {columns}' AS place,
    (SELECT count(*) FROM {source}) AS row_count, count(*) AS copies
  FROM {source} AS t
  SEMI JOIN doubtful AS d
    ON d.table_name = '{table}'
    AND d.owner_id IS NOT DISTINCT FROM t.{owner}
  GROUP BY {t_columns}
  HAVING count(*) > 1
  -- end
  UNION ALL
  -- for each key of a small table:
  SELECT
    '{table} by {columns}', (SELECT count(*) FROM {source}), count(*)
  FROM {source} AS t
  GROUP BY {t_columns}
  HAVING count(*) > 1
  -- end
)
SELECT
  r.place, CAST(max(r.row_count) - sum(r.copies - 1) AS BIGINT) AS expected,
  CAST(max(r.row_count) - sum(r.copies) AS BIGINT) AS found
FROM repeated AS r
GROUP BY r.place
