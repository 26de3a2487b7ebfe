-- title: Every value has its instruction
-- question: Which values are defined by an instruction that the dump does not
--   contain?
-- definition: The instruction that defines a value is in the module text; or
--   in the buffer assignment itself, for assignments without a text and for
--   async computations that older releases do not print.
-- grain: fault
-- param run VARCHAR = NULL of runs.name: Only modules of this run; NULL for
--   all.
-- column module_id
-- column place VARCHAR text neutral: Affected part of the module.
-- column expected BIGINT count neutral: Expected value.
-- column found BIGINT count neutral: Value found.
WITH named AS (
  SELECT
    r.module_id, r.least_instruction_id AS least_id,
    r.greatest_instruction_id AS greatest_id, r.unnamed_count
  FROM module_rows() AS r
  WHERE r.table_name = 'values'
),
doubtful AS MATERIALIZED (
  -- Modules some of whose values may lack an instruction, or its printed text.
  SELECT n.module_id
  FROM named AS n
  LEFT JOIN instruction_spans() AS s USING (module_id)
  WHERE n.unnamed_count > 0
    OR s.unplaced_count > 0
    OR n.least_id < coalesce(s.least_id, n.least_id + 1)
    OR n.greatest_id > s.greatest_id
),
instructions_there AS (
  SELECT i.module_id, i.instruction_id, i.name, i.computation_id, i.form_id
  FROM store.instructions AS i
  WHERE i.module_id IN (SELECT module_id FROM doubtful)
)
SELECT
  v.module_id, 'instruction ' || i.name || ' of value ' || v.value_id AS place,
  CAST(1 AS BIGINT) AS expected, CAST(0 AS BIGINT) AS found
FROM checked_modules() AS m
JOIN doubtful AS d USING (module_id)
JOIN store."values" AS v USING (module_id)
LEFT JOIN instructions_there AS i USING (module_id, instruction_id)
LEFT JOIN store.instruction_forms AS f USING (form_id)
WHERE m.has_text
  AND i.computation_id IS NULL
  AND f.opcode IS NULL
