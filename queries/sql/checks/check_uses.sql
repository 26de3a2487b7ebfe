-- title: Uses of values are operands
-- question: Which uses in the assignment does the module text not have?
-- definition: If a buffer assignment says that an operand reads a value, the
--   module text has that operand, and it is one of the value's positions, or
--   the element of a tuple at one of them: an element that a text only implies
--   (`%while.3#1`) may have no name that the assignment knows.
--   expected is the instruction that defines the value, found the operand in
--   the text (instruction ids).
-- grain: fault
-- param run VARCHAR = NULL of runs.name: Only modules of this run; NULL for
--   all.
-- column module_id
-- column place VARCHAR text neutral: Affected part of the module.
-- column expected BIGINT count neutral: Expected value.
-- column found BIGINT count neutral: Value found.
WITH missing AS (
  SELECT
    u.module_id, u.value_id, u.instruction_id, u.operand_index, o.operand_id
  FROM checked_modules() AS m
  JOIN store.value_uses AS u USING (module_id)
  LEFT JOIN operands AS o
    ON o.module_id = u.module_id
    AND o.instruction_id = u.instruction_id
    AND o.operand_index = u.operand_index
  ANTI JOIN store.value_positions AS p
    ON p.module_id = u.module_id
    AND p.value_id = u.value_id
    AND p.instruction_id = o.operand_id
  WHERE m.has_text
),
elements AS (
  SELECT
    i.module_id, i.instruction_id, o.operand_id AS tuple_id,
    '{' || regexp_extract(f.attributes, '^index=([0-9]+)', 1) || '}'
      AS shape_index
  FROM store.instructions AS i
  JOIN store.instruction_forms AS f USING (form_id)
  JOIN operands AS o USING (module_id, instruction_id)
  WHERE f.opcode = 'get-tuple-element'
    AND (i.module_id, i.instruction_id)
      IN (SELECT (u.module_id, u.operand_id) FROM missing AS u)
)
SELECT
  u.module_id,
  'operand ' || u.operand_index || ' of ' || i.name || ', value ' || u.value_id
    AS place,
  CAST(p.instruction_id AS BIGINT) AS expected,
  CAST(u.operand_id AS BIGINT) AS found
FROM missing AS u
JOIN store.instructions AS i USING (module_id, instruction_id)
LEFT JOIN store.value_positions AS p
  ON p.module_id = u.module_id
  AND p.value_id = u.value_id
  AND p.ordinal = 0
LEFT JOIN elements AS e
  ON e.module_id = u.module_id
  AND e.instruction_id = u.operand_id
ANTI JOIN store.value_positions AS t
  ON t.module_id = u.module_id
  AND t.value_id = u.value_id
  AND t.instruction_id = e.tuple_id
  AND t.shape_index = e.shape_index
WHERE i.computation_id IS NOT NULL
