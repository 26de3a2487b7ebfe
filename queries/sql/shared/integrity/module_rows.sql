-- title: What the tables hold of each module
-- question: How many rows does each table have for a module, and which
--   instructions and computations do they refer to?
-- definition: For each table of module contents: the number of rows per
--   module, and the least and greatest number of an instruction and of a
--   computation in them; NULL for tables without such numbers. Several checks
--   use parts of it. The figures are one struct until the end, so that all of
--   them are computed together: DuckDB computes only equal expressions of a
--   statement once.
-- grain: table, module content
-- column table_name VARCHAR name neutral: The table.
-- column module_id
-- column row_count BIGINT count neutral: Its rows of this module.
-- column unnamed_count BIGINT count neutral: Values without an instruction,
--   instructions without a computation; NULL in other tables.
-- column least_instruction_id INTEGER id neutral: Least of all numbers of
--   instructions in these rows.
-- column greatest_instruction_id INTEGER id neutral: Greatest of them.
-- column least_computation_id INTEGER id neutral: Least of all numbers of
--   computations in these rows.
-- column greatest_computation_id INTEGER id neutral: Greatest of them.
WITH counted AS (
  -- for each table of modules:
  SELECT '{table}' AS table_name, module_id, {figures} AS figures
  FROM {source}
  GROUP BY module_id
  -- end
)
SELECT
  t.table_name, t.module_id, t.figures.row_count, t.figures.unnamed_count,
  t.figures.least_instruction_id, t.figures.greatest_instruction_id,
  t.figures.least_computation_id, t.figures.greatest_computation_id
FROM counted AS t
