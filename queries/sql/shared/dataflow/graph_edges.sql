-- title: Edges of the instruction graph
-- question: Which instruction gets data from which, also across computations?
-- definition: operand: an instruction and each of its operands. call: an
--   instruction and the root of every computation that it calls. argument: a
--   parameter of a called computation and what the caller passes: operand n of
--   a fusion, call or async-start for parameter n; the operand of a while for
--   its body and condition, and for those the body's root too; operand n + 1
--   of a conditional for its n-th branch. Of the last snapshot of every
--   module.
-- grain: module content, consumer, producer
-- param run
-- param program
-- column module_id
-- column consumer_id INTEGER id neutral: Instruction that gets the data.
-- column producer_id INTEGER id neutral: Instruction that makes it.
-- column kind VARCHAR name neutral: operand, call or argument.
WITH chosen AS (
  SELECT DISTINCT m.module_id
  FROM final_modules() AS m
),
instructions_there AS MATERIALIZED (
  SELECT
    i.module_id, i.instruction_id, i.computation_id, f.opcode,
    f.parameter_number
  FROM chosen AS m
  JOIN store.instructions AS i USING (module_id)
  JOIN store.instruction_forms AS f USING (form_id)
),
calls AS MATERIALIZED (
  SELECT
    c.module_id, c.instruction_id AS caller_id, i.opcode, c.role, c.ordinal,
    c.computation_id, d.root_instruction_id
  FROM chosen AS m
  JOIN called_computations AS c USING (module_id)
  JOIN instructions_there AS i USING (module_id, instruction_id)
  JOIN computations AS d
    ON d.module_id = c.module_id
    AND d.computation_id = c.computation_id
),
parameters AS MATERIALIZED (
  SELECT i.module_id, i.computation_id, i.instruction_id, i.parameter_number
  FROM instructions_there AS i
  WHERE i.opcode = 'parameter'
    AND i.computation_id IS NOT NULL
),
passed AS (
  SELECT
    c.module_id, c.caller_id, p.instruction_id AS consumer_id,
    CASE
      WHEN c.opcode = 'conditional' THEN c.ordinal + 1
      ELSE p.parameter_number
    END AS operand_index
  FROM calls AS c
  JOIN parameters AS p USING (module_id, computation_id)
  WHERE c.opcode IN ('fusion', 'call', 'async-start', 'while', 'conditional')
)
SELECT p.module_id, p.instruction_id AS consumer_id,
  p.operand_id AS producer_id,
  'operand' AS kind
FROM chosen AS m
JOIN operands AS p USING (module_id)
WHERE p.operand_id IS NOT NULL
UNION
SELECT c.module_id, c.caller_id, c.root_instruction_id, 'call'
FROM calls AS c
WHERE c.root_instruction_id IS NOT NULL
UNION
SELECT a.module_id, a.consumer_id, p.operand_id, 'argument'
FROM passed AS a
JOIN operands AS p
  ON p.module_id = a.module_id
  AND p.instruction_id = a.caller_id
  AND p.operand_index = a.operand_index
WHERE p.operand_id IS NOT NULL
UNION
SELECT c.module_id, p.instruction_id, b.root_instruction_id, 'argument'
FROM calls AS c
JOIN parameters AS p USING (module_id, computation_id)
JOIN calls AS b
  ON b.module_id = c.module_id
  AND b.caller_id = c.caller_id
  AND b.role = 'body'
WHERE c.opcode = 'while'
  AND b.root_instruction_id IS NOT NULL
