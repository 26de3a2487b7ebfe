-- title: Rows that may have duplicate keys
-- question: Which modules, locations and runs must be checked for duplicate
--   keys one by one?
-- definition: For the largest tables, the owners (module contents, parts of
--   source locations, or runs) whose rows are not proved to have different
--   keys. The proof is that each row, as stored, has a greater key than the
--   row before, which takes a fifth of the time of grouping by key; another
--   order of rows could only list more owners. Instructions are often stored
--   out of order, so those of an owner are counted as a list. Files of a run
--   have no order: each path sets one of 16,384 bits, and as many bits are set
--   as there are files, unless a path is duplicated or two paths share a bit.
-- grain: table, owner
-- column table_name VARCHAR name neutral: The table.
-- column owner_id BIGINT id neutral: module_id, run_id, or the key of such a
--   part.
WITH steps AS (
  -- for each table in the order of its key:
  SELECT
    '{table}' AS table_name, k.owner_id,
    k.owner_id = lag(k.owner_id) OVER () AND k.key > lag(k.key) OVER ()
      AS rises
  FROM (
    SELECT t.{owner} AS owner_id, {number} AS key FROM {source} AS t
  ) AS k
  -- end
),
unordered_instructions AS (
  SELECT s.module_id
  FROM (
    SELECT
      module_id,
      module_id = lag(module_id) OVER ()
        AND instruction_id > lag(instruction_id) OVER () AS rises
    FROM store.instructions
  ) AS s
  WHERE s.rises IS NOT TRUE
  GROUP BY s.module_id
  HAVING count(*) > 1
),
numbered_files AS (
  SELECT file_id, dense_rank() OVER (ORDER BY path) % 16384 AS path_bit
  FROM store.files
)
SELECT s.table_name, s.owner_id
FROM steps AS s
WHERE s.rises IS NOT TRUE
GROUP BY s.table_name, s.owner_id
HAVING count(*) > 1
UNION ALL
SELECT 'instructions', i.module_id
FROM store.instructions AS i
SEMI JOIN unordered_instructions AS u
  ON u.module_id IS NOT DISTINCT FROM i.module_id
GROUP BY i.module_id
HAVING count(*) <> list_unique(list(i.instruction_id))
UNION ALL
SELECT 'dump_files', r.run_id
FROM store.run_files AS r
JOIN numbered_files AS f USING (file_id)
GROUP BY r.run_id
HAVING count(*) > bit_count(bitstring_agg(f.path_bit, 0, 16383))
