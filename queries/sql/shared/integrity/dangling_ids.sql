-- title: References to instructions and computations that are not there
-- question: Which rows name an instruction or a computation that their module
--   does not have?
-- definition: One row per reference to a missing instruction or computation.
--   If the numbers of a module have no gaps or duplicates, and all references
--   lie between the least and the greatest, nothing can be missing; only the
--   references of other modules are looked up one by one. NULL refers to
--   nothing.
-- grain: reference
-- column referrer VARCHAR name neutral: table.column with the reference.
-- column place VARCHAR text neutral: The row, and what is missing.
-- column module_id
WITH held AS (
  SELECT * FROM module_rows()
),
referred AS (
  SELECT
    'instructions' AS target, h.module_id, h.least_instruction_id AS least_id,
    h.greatest_instruction_id AS greatest_id
  FROM held AS h
  WHERE h.table_name <> 'instructions'
  UNION ALL
  SELECT
    'computations', h.module_id, h.least_computation_id,
    h.greatest_computation_id
  FROM held AS h
  WHERE h.table_name <> 'computations'
),
spans AS (
  SELECT
    'instructions' AS target, h.module_id, h.row_count,
    h.least_instruction_id AS least_id,
    h.greatest_instruction_id AS greatest_id
  FROM held AS h
  WHERE h.table_name = 'instructions'
  UNION ALL
  SELECT
    'computations', h.module_id, h.row_count,
    h.least_computation_id, h.greatest_computation_id
  FROM held AS h
  WHERE h.table_name = 'computations'
),
gapless AS (
  SELECT s.target, s.module_id, s.least_id, s.greatest_id
  FROM spans AS s
  ANTI JOIN (
    SELECT u.table_name, u.owner_id
    FROM suspect_keys() AS u
    WHERE u.table_name IN ('instructions', 'computations')
  ) AS d
    ON d.table_name = s.target
    AND d.owner_id = s.module_id
  WHERE s.row_count = s.greatest_id - s.least_id + 1
),
doubtful AS MATERIALIZED (
  SELECT DISTINCT r.target, r.module_id
  FROM referred AS r
  LEFT JOIN gapless AS g USING (target, module_id)
  WHERE r.least_id < coalesce(g.least_id, r.least_id + 1)
    OR r.greatest_id > g.greatest_id
),
known_instructions AS (
  SELECT k.module_id, k.instruction_id
  FROM store.instructions AS k
  SEMI JOIN doubtful AS d
    ON d.target = 'instructions'
    AND d.module_id = k.module_id
),
known_computations AS (
  SELECT k.module_id, k.computation_id
  FROM computations AS k
  SEMI JOIN doubtful AS d
    ON d.target = 'computations'
    AND d.module_id = k.module_id
),
references_to_instructions AS (
  -- for each reference to an instruction:
  SELECT
    '{table}.{column}' AS referrer, '{table} without {lacks}' AS place,
    module_id, {column} AS id
  FROM {source}
  WHERE {column} IS NOT NULL
  -- end
),
references_to_computations AS (
  -- for each reference to a computation:
  SELECT
    '{table}.{column}' AS referrer, '{table} without {lacks}' AS place,
    module_id, {column} AS id
  FROM {source}
  WHERE {column} IS NOT NULL
  -- end
)
SELECT r.referrer, r.place, r.module_id
FROM references_to_instructions AS r
SEMI JOIN doubtful AS d
  ON d.target = 'instructions'
  AND d.module_id = r.module_id
ANTI JOIN known_instructions AS k
  ON k.module_id = r.module_id
  AND k.instruction_id = r.id
UNION ALL
SELECT r.referrer, r.place, r.module_id
FROM references_to_computations AS r
SEMI JOIN doubtful AS d
  ON d.target = 'computations'
  AND d.module_id = r.module_id
ANTI JOIN known_computations AS k
  ON k.module_id = r.module_id
  AND k.computation_id = r.id
