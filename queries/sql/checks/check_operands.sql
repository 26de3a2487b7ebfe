-- title: Operands exist
-- question: Which operands name an instruction that their computation does not
--   contain?
-- definition: Every operand in the module text is an instruction of that text.
--   Instructions that only the buffer assignment prints are left out: their
--   operands may be printed nowhere.
-- grain: fault
-- param run VARCHAR = NULL of runs.name: Only modules of this run; NULL for
--   all.
-- column module_id
-- column place VARCHAR text neutral: Affected part of the module.
-- column expected BIGINT count neutral: Expected value.
-- column found BIGINT count neutral: Value found.
WITH named_only AS MATERIALIZED (
  SELECT i.module_id, i.instruction_id
  FROM checked_modules() AS m
  JOIN store.instructions AS i USING (module_id)
  WHERE m.has_text
    AND i.computation_id IS NULL
),
missing AS MATERIALIZED (
  SELECT o.module_id, o.instruction_id, o.operand_index
  FROM checked_modules() AS m
  JOIN operands AS o USING (module_id)
  WHERE o.operand_id IS NULL
  UNION ALL
  SELECT o.module_id, o.instruction_id, o.operand_index
  FROM named_only AS n
  JOIN operands AS o
    ON o.module_id = n.module_id
    AND o.operand_id = n.instruction_id
),
readers AS (
  -- Of few modules, if any. DuckDB takes `missing` for longer than the table
  -- of instructions, and would make all of those a hash table.
  SELECT i.module_id, i.instruction_id, i.name
  FROM (
    SELECT m.module_id
    FROM checked_modules() AS m
    WHERE m.module_id IN (SELECT module_id FROM missing)
  ) AS m
  JOIN store.instructions AS i USING (module_id)
  WHERE i.computation_id IS NOT NULL
)
SELECT
  o.module_id, 'operand ' || o.operand_index || ' of ' || i.name AS place,
  CAST(1 AS BIGINT) AS expected, CAST(0 AS BIGINT) AS found
FROM missing AS o
JOIN readers AS i USING (module_id, instruction_id)
